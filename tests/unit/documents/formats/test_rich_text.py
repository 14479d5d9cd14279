"""RTF: text, characters, headings, tables, and what is left out."""

import pytest

from docmill.documents.formats.rich_text import read_rich_text
from docmill.documents.loading import load

_FONTS = rb"{\fonttbl{\f0\froman\fcharset0 Times;}{\f1\fcharset204 Arial Cyr{\*\falt x};}{\f2\fcharset128 MS;}}"
_STYLES = rb"{\stylesheet{\s0 Normal;}{\s1\outlinelevel0\b Kop;}{\s2\b heading 2;}{\*\cs10 Default;}}"


def text_of(body: bytes, header: bytes = rb"\ansi\ansicpg1252\deff0" + _FONTS) -> str:
    return read_rich_text(rb"{\rtf1" + header + b" " + body + b"}").text


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (rb"one\par two\line three\par\par four", "one\ntwo\nthree\n\nfour"),
        (rb"{\b bold}ly {\i said}", "boldly said"),
        (rb"caf\'e9 \{x\} a\~b\_c\-d\emdash", "café {x} a b-cd—"),
        (rb"\u8364? \u-10179?\u-8704? {\uc2\u20013\'d6\'d0}\u233e", "€ 😀 中é"),
        (rb"{\f1\'cf\'f0\'e8\'e2\'e5\'f2} {\f2\'8c\'9f\'8d\'f5\'83}{\f2\'83C}", "Привет 検索\ufffdイ"),
        (b"raw \xe9t\xe9\r\n continued", "raw été continued"),
        (rb"a{\v HIDDEN}b{\pict\pngblip 89504e47}c{\*\unknown GONE}d{\object{\*\objdata 01ff}{\result shown}}", "abcdshown"),
        (rb'{\field{\*\fldinst HYPERLINK "http://GONE"}{\fldrslt the link}}', "the link"),
        (rb"{\header GONE}{\footer GONE}body{\footnote  a note}", "body a note"),
        (rb"{\shp{\*\shpinst{\sp{\sn GONE}{\sv GONE}}{\shptxt box}}}", "box"),
        (rb"a\bin4 }}}}b", "ab"),
        (rb"{\listtext\'95\tab}item", "•\titem"),
    ],
)
def test_text_is_what_a_reader_sees(body: bytes, text: str) -> None:
    assert text_of(body) == text


def test_code_pages_are_those_of_the_file_and_of_its_fonts() -> None:
    assert text_of(rb"caf\'8e", rb"\mac") == "café"
    assert text_of(rb"\'cf\'f0", rb"\ansi\ansicpg1251") == "Пр"
    assert text_of(rb"x\'e9", rb"\ansi\ansicpg99999") == "xé"
    assert text_of(rb"\'cf\'f0", rb"\ansi\deff1" + _FONTS) == "Пр"


def test_headings_are_paragraphs_in_styles_with_an_outline_level() -> None:
    extracted = read_rich_text(
        rb"{\rtf1" + _STYLES + rb"\pard\s1 Part \b One\b0\par\pard text\par\pard\s2 Sub\par\pard\outlinelevel2 Deep\par\pard x}"
    )
    assert [(heading.level, heading.text) for heading in extracted.outline.headings] == [(1, "Part One"), (2, "Sub"), (3, "Deep")]
    assert extracted.text == "# Part One\n\ntext\n\n## Sub\n\n### Deep\n\nx"
    assert extracted.title == "Part One"


def test_tables_are_kept_whole_with_their_header_rows() -> None:
    extracted = read_rich_text(
        rb"{\rtf1 a\par\trowd\trhdr\pard\intbl A\cell B|\cell\row\trowd\pard\intbl 1\cell 2\par 3\cell\row\pard after\par}"
    )
    (block,) = extracted.outline.blocks
    assert block.header_end is not None
    assert extracted.text[block.start : block.end] == "| A | B\\| |\n| --- | --- |\n| 1 | 2 3 |\n"
    assert extracted.text[block.start : block.header_end] == "| A | B\\| |\n| --- | --- |\n"


def test_the_document_says_its_title_author_and_date() -> None:
    info = rb"{\info{\title My \'e9 title}{\author J\u246?rg}{\creatim\yr2024\mo3\dy5\hr1}{\*\company GONE}{\operator GONE}}"
    extracted = read_rich_text(rb"{\rtf1\ansi" + info + rb" text}")
    assert (extracted.title, extracted.text) == ("My é title", "text")
    assert extracted.metadata == {"author": "Jörg", "date": "2024-03-05"}


def test_lines_are_those_of_the_file() -> None:
    extracted = read_rich_text(b"{\\rtf1\nfirst\\par\n\nsecond\\par\n}")
    assert extracted.source_lines is not None
    assert list(zip(extracted.text.split("\n"), extracted.source_lines, strict=True)) == [("first", 2), ("second", 4)]


def test_rtf_is_known_by_its_first_bytes() -> None:
    assert load("letter.doc", rb"{\rtf1 words}").text == "words"


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"}",
        b"\\",
        rb"\'e",
        rb"\'e9",
        rb"\u1?",
        rb"\par ",
        rb"\cell",
        rb"x\cell\row",
        rb"{\f1 x}",
        rb"\bin9",
        rb"{\stylesheet",
        rb"{\info{\title x",
        *(rb"{\fonttbl", rb"\u-1", rb"\uc9999\u1", rb"\s99999999999 x", b"\0\xff", rb"{\*", rb"\bin-5 "),
    ],
)
def test_what_is_broken_is_read_as_far_as_it_goes(body: bytes) -> None:
    read_rich_text(rb"{\rtf1 " + body * 3000)
    text = read_rich_text(rb"{\rtf1 begins " + body).text
    assert "begins" in text
    text.encode()
