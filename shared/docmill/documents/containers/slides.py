"""Presentations (PPTX): slides as pages, titles as headings, tables, diagrams, and the speaker's notes."""

from collections.abc import Iterator
from typing import Final

from docmill.documents.containers.cleaning import on_one_line, table_line
from docmill.documents.containers.guarding import guarded
from docmill.documents.containers.office_package import OfficePackage
from docmill.documents.containers.text_builder import TextBuilder
from docmill.documents.containers.xml_parts import Element, child_of, tree_of
from docmill.documents.extracted import Extracted
from docmill.domain.errors import DocumentSkipped, SkipReason

_TITLES: Final = ("title", "ctrTitle")
#: Placeholders whose text is that of every slide.
_FRAME: Final = ("dt", "ftr", "hdr", "sldNum", "sldImg")
_MOST_SLIDES: Final = 20_000


@guarded
def read_pptx(content: bytes) -> Extracted:
    """The text of a presentation, slide by slide, those that are hidden in a show too.

    Raises:
        DocumentSkipped: it needs a password, is damaged, or has very much text.
    """
    package = OfficePackage(content, "ppt/presentation.xml")
    builder = TextBuilder()
    slides = _slides(package)
    first_title = ""
    for number, slide in enumerate(slides, 1):
        builder.page()
        title = _add_slide(package, slide, number, builder)
        first_title = title if number == 1 else first_title
    return builder.built(package.properties().with_pages(len(slides)), title=first_title)


def _slides(package: OfficePackage) -> list[str]:
    targets = {one.id: one.target for one in package.relationships(package.main) if one.kind == "slide"}
    order = child_of(tree_of(package.archive.open(package.main)), "sldIdLst")
    ids = [slide.get("r:id", "") for slide in order] if order is not None else []
    return [targets[one] for one in ids if one in targets and targets[one] in package.archive][:_MOST_SLIDES]


def _add_slide(package: OfficePackage, part: str, number: int, builder: TextBuilder) -> str:
    """Adds a slide; returns its title."""
    try:
        slide = tree_of(package.archive.open(part))
    except DocumentSkipped as skipped:
        if skipped.reason is not SkipReason.PARSER_FAILED:
            raise
        return ""  # one damaged slide costs no other
    shapes = [*_shapes(child_of(slide, "cSld", "spTree"))]
    title = next((shape for shape in shapes if _placeholder(shape) in _TITLES and _lines(shape)), None)
    said = " ".join(_lines(title)) if title is not None else ""
    builder.heading(1, said or f"Slide {number}")
    diagrams = [tree_of(package.archive.open(data)) for data in package.related(part, "diagramData")]
    for shape in shapes:
        if shape is title or _placeholder(shape) in _FRAME:
            continue
        table = next(shape.iter("tbl"), None)
        if table is not None:
            _add_table(table, builder)
        elif len(lines := _lines(shape)) > 1 and _placeholder(shape) is not None:
            builder.block([_item(paragraph) for paragraph in _paragraphs(shape) if _text(paragraph).strip()])
        else:
            builder.paragraph("\n".join(lines))
    for diagram in diagrams:
        builder.block([f"- {on_one_line(text)}" for paragraph in diagram.iter("p") if (text := _text(paragraph)).strip()])
    _add_notes(package, part, builder)
    return said


def _add_notes(package: OfficePackage, part: str, builder: TextBuilder) -> None:
    for notes in package.related(part, "notesSlide")[:1]:
        shapes = _shapes(child_of(tree_of(package.archive.open(notes)), "cSld", "spTree"))
        lines = [line for shape in shapes if _placeholder(shape) not in _FRAME for line in _lines(shape)]
        if lines:
            builder.paragraph("\n".join(("Notes: " + lines[0], *lines[1:])))
    for kind in ("comments", "comment"):
        for comments in package.related(part, kind):
            for comment in tree_of(package.archive.open(comments)).iter("cm"):
                text = " ".join(on_one_line(one.text or "") for tag in ("text", "t") for one in comment.iter(tag))
                builder.paragraph(f"Comment: {text}" if text.strip() else "")


def _shapes(tree: Element | None) -> Iterator[Element]:
    """Shapes and frames as they stand; those of groups one by one."""
    for child in tree if tree is not None else ():
        if child.tag in ("grpSp", "spTree"):
            yield from _shapes(child)
        elif child.tag == "AlternateContent":
            yield from _shapes(child.find("Choice"))
        elif child.tag in ("sp", "graphicFrame", "cxnSp"):
            yield child


def _placeholder(shape: Element) -> str | None:
    """Which placeholder of its layout a shape fills; None for one that fills none."""
    for child in shape:
        if child.tag.startswith("nv"):
            placeholder = child_of(child, "nvPr", "ph")
            return None if placeholder is None else placeholder.get("type", "obj")
    return None


def _paragraphs(shape: Element) -> list[Element]:
    body = shape.find("txBody")
    return [] if body is None else body.findall("p")


def _lines(shape: Element) -> list[str]:
    return [line for paragraph in _paragraphs(shape) for line in _text(paragraph).split("\n") if line.strip()]


def _item(paragraph: Element) -> str:
    properties = paragraph.find("pPr")
    level = properties.get("lvl", "0") if properties is not None else "0"
    return f"{'  ' * (int(level) if level.isdigit() else 0)}- {on_one_line(_text(paragraph))}"


def _text(paragraph: Element) -> str:
    parts = []
    for element in paragraph.iter():
        if element.tag == "t":
            parts.append(element.text or "")
        elif element.tag == "br":
            parts.append("\n")
    return "".join(parts)


def _add_table(table: Element, builder: TextBuilder) -> None:
    lines = []
    for row in table.findall("tr"):
        cells = row.findall("tc")
        merged = [cell.get("hMerge") in ("1", "true") or cell.get("vMerge") in ("1", "true") for cell in cells]
        texts = ["" if skip else " ".join(_text(one) for one in _paragraphs(cell)) for cell, skip in zip(cells, merged, strict=True)]
        line = table_line(texts)
        if line:
            lines.append(line)
    builder.block(lines, 1 if len(lines) > 1 else 0)
