"""Whatever is damaged in a file, its reader makes a document of it or says why it does not."""

import io
import random
import zipfile

import openpyxl
import pptx
import pytest

from docmill.documents.loading import load
from docmill.domain.errors import DocumentSkipped
from support.made_archives import book, open_document, paragraph, word, zipped
from support.made_pdfs import bookmarked, lines, pdf

_TIMES = 40


def _saved(document: "openpyxl.Workbook | pptx.presentation.Presentation") -> bytes:
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def _files() -> dict[str, bytes]:
    row = f"<w:tr><w:tc>{paragraph('cell')}</w:tc><w:tc>{paragraph('cell')}</w:tc></w:tr>"
    note = f'<w:footnote w:id="2">{paragraph("note")}</w:footnote>'
    noted = paragraph("text", '<w:r><w:footnoteReference w:id="2"/></w:r>')
    style = '<w:style w:type="paragraph" w:styleId="H"><w:name w:val="heading 1"/></w:style>'
    talk = pptx.Presentation()
    talk.slides.add_slide(talk.slide_layouts[1]).shapes.title.text = "title"
    workbook = openpyxl.Workbook()
    workbook.active.append(["a", 1])
    return {
        "a.docx": word(f"{paragraph('Heading', style='H')}{noted}<w:tbl>{row}{row}</w:tbl>", styles=style, footnotes=note),
        "a.pptx": _saved(talk),
        "a.xlsx": _saved(workbook),
        "a.odt": open_document(
            "text", "<text:h>head</text:h><text:list><text:list-item><text:p>item</text:p></text:list-item></text:list>"
        ),
        "a.epub": book({"1.xhtml": "<h1>One</h1>"}, ["1.xhtml"]),
    }


FILES = _files()


def _loads_or_says_why(name: str, content: bytes) -> None:
    try:
        document = load(name, content)
    except DocumentSkipped:
        return
    for heading in document.outline.headings:
        assert 0 <= heading.start < heading.end <= len(document.text)
    for block in document.outline.blocks:
        assert 0 <= block.start < block.end <= len(document.text)


@pytest.mark.parametrize("name", FILES)
def test_damaged_parts(name: str) -> None:
    with zipfile.ZipFile(io.BytesIO(FILES[name])) as archive:
        parts = {one: archive.read(one) for one in archive.namelist()}
    texts = [one for one in parts if one.endswith((".xml", ".rels", ".opf", ".xhtml"))]
    chance = random.Random(7)
    for _ in range(_TIMES):
        damaged = dict(parts)
        for _ in range(chance.choice([1, 4])):
            one = chance.choice(texts)
            content = bytearray(damaged[one])
            place = chance.randrange(max(1, len(content)))
            match chance.randrange(3):
                case 0:
                    content[place : place + 1] = bytes([chance.randrange(256)])
                case 1:
                    del content[place : place + chance.randrange(40)]
                case _:
                    content[place:place] = content[place : place + chance.randrange(200)]
            damaged[one] = bytes(content)
        _loads_or_says_why(name, zipped(damaged))


@pytest.mark.parametrize("name", FILES)
def test_damaged_archives(name: str) -> None:
    chance = random.Random(7)
    for _ in range(_TIMES):
        content = bytearray(FILES[name])
        for _ in range(chance.choice([1, 20])):
            content[chance.randrange(4, len(content))] = chance.randrange(256)
        _loads_or_says_why(name, bytes(content))


def test_damaged_pdfs() -> None:
    whole = pdf(bookmarked("One", 0, lines("One", "text")), lines("more text"))
    chance = random.Random(7)
    for _ in range(_TIMES):
        content = bytearray(whole)
        for _ in range(chance.choice([1, 20])):
            content[chance.randrange(8, len(content))] = chance.randrange(256)
        _loads_or_says_why("a.pdf", bytes(content))
