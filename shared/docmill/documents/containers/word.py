"""Word documents (DOCX): headings by style, tables and lists as whole blocks, notes and comments after their paragraphs."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from docmill.documents.containers.cleaning import on_one_line, table_line
from docmill.documents.containers.guarding import guarded
from docmill.documents.containers.office_package import OfficePackage
from docmill.documents.containers.text_builder import TextBuilder
from docmill.documents.containers.word_styles import Numbering, Style, numbering_of, outline_level, styles_of
from docmill.documents.containers.xml_parts import Element, child_of, children_within, tree_of
from docmill.documents.extracted import Extracted

#: What holds no text of the document as it is now: properties, what was deleted or moved away, instructions, second versions of drawings.
_PROPERTIES: Final = frozenset(["pPr", "rPr", "tblPr", "trPr", "tcPr", "sectPr", "sdtPr", "sdtEndPr", "tblGrid", "rubyPr"])
_LEFT_OUT: Final = _PROPERTIES | {"del", "moveFrom", "delText", "delInstrText", "instrText", "Fallback", "rt"}
_BREAKS: Final = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_NOTES: Final = {"footnoteReference": "footnotes", "endnoteReference": "endnotes"}
_OFF: Final = ("0", "false", "off")


@guarded
def read_docx(content: bytes) -> Extracted:
    """The text of a Word document: as it is when all tracked changes are accepted, without page headers and footers.

    Raises:
        DocumentSkipped: it needs a password, is damaged, or has very much text.
    """
    package = OfficePackage(content, "word/document.xml")
    reader = _Reader(package)
    for block in children_within(package.archive.open(package.main), ["body"]):
        reader.block(block)
    reader.end_list()
    return reader.builder.built(package.properties(), title=reader.title or None)


@dataclass(slots=True)
class _Inline:
    """What a paragraph holds.

    Attributes:
        asides: texts that belong to it and stand elsewhere: notes, comments, text boxes.
    """

    text: list[str] = field(default_factory=list)
    asides: list[str] = field(default_factory=list)


class _Reader:
    def __init__(self, package: OfficePackage) -> None:
        self.builder = TextBuilder()
        self.title = ""
        self._styles = styles_of(package)
        self._numbering: Numbering = numbering_of(package)
        self._notes = {kind: _notes(package, kind) for kind in ("footnotes", "endnotes", "comments")}
        self._list: list[str] = []
        self._list_asides: list[str] = []

    def block(self, element: Element) -> None:
        """One child of the body."""
        match element.tag:
            case "p":
                self._paragraph(element)
            case "tbl":
                self.end_list()
                self._table(element)
            case "AlternateContent":
                self._blocks(element.findall("Choice")[:1])
            case tag if tag not in _LEFT_OUT:
                self._blocks([element])  # content controls, insertions, custom XML: what is in them counts

    def end_list(self) -> None:
        """What was collected of a list is whole now."""
        self.builder.block(self._list)
        for aside in self._list_asides:
            self.builder.paragraph(aside)
        self._list, self._list_asides = [], []

    def _blocks(self, parents: Iterable[Element]) -> None:
        for parent in parents:
            for child in parent:
                self.block(child)

    def _paragraph(self, element: Element) -> None:
        properties = element.find("pPr")
        style = self._style(properties)
        if style.is_contents:
            return  # a table of contents repeats the headings
        inline = self._inline(element)
        text = "".join(inline.text)
        own = outline_level(properties)
        level = style.level if own is None else own or None
        if text.strip() and (level is not None or style.is_title):
            self.end_list()
            self.title = self.title or (on_one_line(text) if style.is_title else "")
            self.builder.heading(level or 1, text)
        else:
            number, depth = self._list_of(properties, style)
            if number and text.strip():
                self._list.append(self._numbering.next_mark(number, depth) + on_one_line(text))
                self._list_asides += inline.asides
                return
            if text.strip():
                self.end_list()
            self.builder.paragraph(text)
        for aside in inline.asides:
            self.builder.paragraph(aside)

    def _style(self, properties: Element | None) -> Style:
        named = child_of(properties, "pStyle")
        return self._styles.get(named.get("val", "") if named is not None else "", self._styles[""])

    def _list_of(self, properties: Element | None, style: Style) -> tuple[str, str]:
        """The list that a paragraph belongs to, "" for none, and its depth in it."""
        number, depth = child_of(properties, "numPr", "numId"), child_of(properties, "numPr", "ilvl")
        named = style.numbering if number is None else number.get("val", "")
        return "" if named == "0" else named, "0" if depth is None else depth.get("val", "0")

    def _inline(self, element: Element) -> _Inline:
        inline = _Inline()
        self._gather(element, inline)
        return inline

    def _gather(self, element: Element, inline: _Inline) -> None:
        for child in element:
            tag = child.tag
            if tag == "t":
                inline.text.append(child.text or "")
            elif tag == "r":
                if not _is_hidden(child):
                    self._gather(child, inline)
            elif tag in _BREAKS:
                inline.text.append("" if child.get("type") in ("page", "column") else _BREAKS[tag])
            elif tag in _NOTES:
                self._aside(_NOTES[tag], child.get("id", ""), inline)
            elif tag == "commentReference":
                self._aside("comments", child.get("id", ""), inline)
            elif tag == "txbxContent":
                inline.asides += self._texts_in(child)
            elif tag == "AlternateContent":
                for choice in child.findall("Choice")[:1]:
                    self._gather(choice, inline)
            elif tag not in _LEFT_OUT:
                self._gather(child, inline)

    def _aside(self, kind: str, key: str, inline: _Inline) -> None:
        note = self._notes[kind].get(key)
        if note is None:
            return
        text = " ".join(self._texts_in(note))
        if kind == "comments":
            author = note.get("author", "")
            inline.asides.append(f"Comment ({author}): {text}" if author else f"Comment: {text}")
        elif text:
            inline.text.append(f"[{key}]")
            inline.asides.append(f"[{key}] {text}")

    def _texts_in(self, container: Element) -> list[str]:
        """The texts of paragraphs and tables that stand in a cell, a box or a note, each on one line."""
        texts: list[str] = []
        for child in container:
            if child.tag == "p":
                inline = self._inline(child)
                texts += [on_one_line("".join(inline.text)), *inline.asides]
            elif child.tag == "tbl":
                texts += ["; ".join(filter(None, (table_line(cells) for cells, _ in self._rows(child))))]
            elif child.tag not in _LEFT_OUT:
                texts += self._texts_in(child)
        return [text for text in texts if text]

    def _table(self, table: Element) -> None:
        rows = [*_rows_in(table)]
        if all(len([*_cells_in(row)]) <= 1 for row in rows):
            for row in rows:  # a frame around text, not a table
                for cell in _cells_in(row):
                    self._blocks([cell])
                    self.end_list()
            return
        lines, header = [], 0
        for cells, is_header in self._rows(table):
            line = table_line(cells)
            if line:
                lines.append(line)
                header += is_header and header == len(lines) - 1
        self.builder.block(lines, header or (1 if len(lines) > 1 else 0))

    def _rows(self, table: Element) -> Iterator[tuple[list[str], bool]]:
        """The cells of each row, those that are merged into others being empty, and whether it is a row of the header."""
        for row in _rows_in(table):
            marked = child_of(row, "trPr", "tblHeader")
            cells: list[str] = []
            for cell in _cells_in(row):
                properties = cell.find("tcPr")
                merged = child_of(properties, "vMerge")
                goes_on = merged is not None and merged.get("val", "continue") == "continue"
                cells.append("" if goes_on else " ".join(self._texts_in(cell)))
                span = child_of(properties, "gridSpan")
                width = span.get("val", "1") if span is not None else "1"
                cells += [""] * (min(int(width), 64) - 1 if width.isdigit() else 0)
            yield cells, marked is not None and marked.get("val") not in _OFF


def _rows_in(element: Element) -> Iterator[Element]:
    """Rows, also those in content controls; not those of tables in cells."""
    for child in element:
        if child.tag == "tr":
            yield child
        elif child.tag in ("sdt", "sdtContent", "customXml", "ins"):
            yield from _rows_in(child)


def _cells_in(element: Element) -> Iterator[Element]:
    for child in element:
        if child.tag == "tc":
            yield child
        elif child.tag in ("sdt", "sdtContent", "customXml"):
            yield from _cells_in(child)


def _is_hidden(run: Element) -> bool:
    vanish = child_of(run, "rPr", "vanish")
    return vanish is not None and vanish.get("val") not in _OFF


def _notes(package: OfficePackage, kind: str) -> dict[str, Element]:
    """Notes or comments by id; those of Word itself, which draw lines between notes and text, have a type."""
    notes: dict[str, Element] = {}
    for part in package.related(package.main, kind)[:1]:
        for note in tree_of(package.archive.open(part)):
            if note.get("type") in (None, "normal"):
                notes[note.get("id", "")] = note
    return notes
