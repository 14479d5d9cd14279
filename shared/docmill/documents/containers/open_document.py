"""OpenDocument files (ODT, ODS, ODP; OASIS OpenDocument 1.3 part 3)."""

from collections.abc import Iterable, Iterator
from typing import Final

from docmill.documents.containers.archive import Archive
from docmill.documents.containers.cleaning import on_one_line, table_line
from docmill.documents.containers.guarding import guarded
from docmill.documents.containers.properties import Properties, properties
from docmill.documents.containers.tables import add_table
from docmill.documents.containers.text_builder import TextBuilder
from docmill.documents.containers.xml_parts import Element, children_within, tree_of
from docmill.documents.extracted import Extracted
from docmill.domain.errors import DocumentSkipped, SkipReason

#: What was deleted, tables of contents, which repeat the headings, what frames and forms are made of, readings above characters.
_LEFT_OUT: Final = frozenset(
    ["tracked-changes", "table-of-content", "table-index", "illustration-index", "forms", "event-listeners", "desc", "ruby-text"]
)
_MOST_COLUMNS: Final = 16_384
_MOST_REPEATED_ROWS: Final = 1_000


@guarded
def read_odt(content: bytes) -> Extracted:
    """The text of a text document."""
    archive = _opened(content)
    reader = _Reader(archive)
    for block in children_within(archive.open("content.xml"), ["text"]):
        reader.block(block)
    return reader.built(_properties(archive))


@guarded
def read_ods(content: bytes) -> Extracted:
    """The visible sheets of a spreadsheet, each under its name; what cells show, not what they compute."""
    archive = _opened(content)
    reader = _Reader(archive)
    hidden = _hidden_tables(archive)
    for sheet in children_within(archive.open("content.xml"), ["spreadsheet"]):
        if sheet.tag == "table" and sheet.get("style-name") not in hidden:
            reader.builder.heading(1, sheet.get("name", ""))
            add_table(reader.builder, (cells for cells, _ in reader.rows(sheet)))
    return reader.builder.built(_properties(archive), title="")


@guarded
def read_odp(content: bytes) -> Extracted:
    """The text of a presentation, slide by slide, with the speaker's notes."""
    archive = _opened(content)
    reader = _Reader(archive)
    number = 0
    for page in children_within(archive.open("content.xml"), ["presentation"]):
        if page.tag == "page":
            number += 1
            reader.slide(page, number)
    return reader.built(_properties(archive).with_pages(number))


def _opened(content: bytes) -> Archive:
    archive = Archive(content)
    if "META-INF/manifest.xml" in archive and b"encryption-data" in archive.read("META-INF/manifest.xml"):
        raise DocumentSkipped(SkipReason.ENCRYPTED, "it is protected by a password")
    return archive


class _Reader:
    def __init__(self, archive: Archive) -> None:
        self.builder = TextBuilder()
        self._title_styles = {"Title"} | _styles_made_of(archive, "Title")
        self._asides: list[str] = []
        self._title = ""

    def built(self, known: Properties) -> Extracted:
        """The whole document."""
        return self.builder.built(known, title=self._title or None)

    def block(self, element: Element) -> None:
        """One piece of the body."""
        match element.tag:
            case "h":
                level = element.get("outline-level", "1")
                self.builder.heading(int(level) if level.isdigit() and level != "0" else 1, self._text(element))
                self._add_asides()
            case "p":
                text = self._text(element)
                if text.strip() and element.get("style-name") in self._title_styles:
                    self._title = self._title or on_one_line(text)
                    self.builder.heading(1, text)
                else:
                    self.builder.paragraph(text)
                self._add_asides()
            case "list":
                self.builder.block([*self._items(element, 0)])
                self._add_asides()
            case "table":
                self._table(element)
            case tag if tag not in _LEFT_OUT:
                for child in element:
                    self.block(child)

    def slide(self, page: Element, number: int) -> None:
        """One slide."""
        self.builder.page()
        title = next((frame for frame in page if frame.get("class") == "title" and self._text(frame).strip()), None)
        self.builder.heading(1, self._text(title) if title is not None else f"Slide {number}")
        self._asides.clear()
        for child in page:
            if child is title or child.tag in ("notes", *_LEFT_OUT):
                continue
            self.block(child)
        for notes in page.findall("notes"):
            lines = [line for frame in notes if frame.get("class") == "notes" for line in self._text(frame).split("\n") if line.strip()]
            self.builder.paragraph("\n".join(("Notes: " + lines[0], *lines[1:])) if lines else "")
        self._asides.clear()

    def rows(self, table: Element) -> Iterator[tuple[list[str], bool]]:
        """The cells of each row, and whether it is a row of the header."""
        for row, is_header in _rows_in(table, False):
            cells: list[str] = []
            for cell in row:
                if cell.tag not in ("table-cell", "covered-table-cell"):
                    continue
                text = "" if cell.tag == "covered-table-cell" else self._cell(cell)
                cells += [text] * min(_count(cell, "number-columns-repeated"), _MOST_COLUMNS - len(cells))
            for _ in range(min(_count(row, "number-rows-repeated"), _MOST_REPEATED_ROWS) if any(cells) else 1):
                yield cells, is_header

    def _table(self, table: Element) -> None:
        lines, header = [], 0
        for cells, is_header in self.rows(table):
            line = table_line(cells)
            if line:
                lines.append(line)
                header += is_header and header == len(lines) - 1
        self.builder.block(lines, header or (1 if len(lines) > 1 else 0))
        self._add_asides()

    def _cell(self, cell: Element) -> str:
        parts = []
        for child in cell:
            if child.tag == "table":
                parts.append("; ".join(filter(None, (table_line(cells) for cells, _ in self.rows(child)))))
            elif child.tag == "list":
                parts += self._items(child, 0)
            elif child.tag == "annotation":
                self._aside(child)
            elif child.tag not in _LEFT_OUT:
                parts.append(on_one_line(self._text(child)))
        return " ".join(filter(None, parts))

    def _items(self, element: Element, depth: int) -> Iterator[str]:
        number = 0
        for item in element:
            if item.tag not in ("list-item", "list-header"):
                continue
            number += 1
            lines = [on_one_line(self._text(child)) for child in item if child.tag not in ("list", *_LEFT_OUT)]
            text = " ".join(filter(None, lines))
            if text:
                yield f"{'  ' * min(depth, 8)}- {text}"
            for child in item:
                if child.tag == "list":
                    yield from self._items(child, depth + 1)

    def _text(self, element: Element) -> str:
        parts: list[str] = []
        self._gather(element, parts)
        return "".join(parts)

    def _gather(self, element: Element, parts: list[str]) -> None:
        if element.text:
            parts.append(_collapsed(element.text))
        for child in element:
            match child.tag:
                case "s":
                    parts.append(" " * min(_count(child, "c"), 200))
                case "tab":
                    parts.append("\t")
                case "line-break":
                    parts.append("\n")
                case "note":
                    self._note(child, parts)
                case "annotation":
                    self._aside(child)
                case "p" | "h" | "list-item":
                    self._gather(child, parts)
                    parts.append("\n")
                case tag if tag not in _LEFT_OUT:
                    self._gather(child, parts)
            if child.tail:
                parts.append(_collapsed(child.tail))

    def _note(self, note: Element, parts: list[str]) -> None:
        mark = on_one_line("".join(text for one in note.findall("note-citation") for text in one.itertext()))
        text = on_one_line(" ".join(self._text(one) for one in note.findall("note-body")))
        if text:
            parts.append(f"[{mark}]")
            self._asides.append(f"[{mark}] {text}")

    def _aside(self, annotation: Element) -> None:
        author = on_one_line("".join(one.text or "" for one in annotation.findall("creator")))
        text = on_one_line(" ".join(self._text(one) for one in annotation if one.tag in ("p", "list")))
        if text:
            self._asides.append(f"Comment ({author}): {text}" if author else f"Comment: {text}")

    def _add_asides(self) -> None:
        for aside in self._asides:
            self.builder.paragraph(aside)
        self._asides.clear()


def _rows_in(element: Element, is_header: bool) -> Iterator[tuple[Element, bool]]:
    for child in element:
        if child.tag == "table-row":
            yield child, is_header
        elif child.tag in ("table-header-rows", "table-rows", "table-row-group"):
            yield from _rows_in(child, is_header or child.tag == "table-header-rows")


def _count(element: Element, name: str) -> int:
    value = element.get(name, "1")
    return int(value) if value.isdigit() else 1


def _collapsed(text: str) -> str:
    """White space as the format counts it: any run is one space."""
    if "\n" not in text and "  " not in text and "\t" not in text:
        return text
    return f"{' ' if text[0].isspace() else ''}{on_one_line(text)}{' ' if text.strip() and text[-1].isspace() else ''}"


def _styles_made_of(archive: Archive, name: str) -> set[str]:
    """Automatic styles that change a named one."""
    return {style.get("name", "") for style in _automatic_styles(archive) if style.get("parent-style-name") == name}


def _hidden_tables(archive: Archive) -> set[str | None]:
    return {
        style.get("name")
        for style in _automatic_styles(archive)
        if any(one.get("display") == "false" for one in style.findall("table-properties"))
    }


def _automatic_styles(archive: Archive) -> Iterable[Element]:
    return children_within(archive.open("content.xml"), ["automatic-styles"], first_parent_only=True)


def _properties(archive: Archive) -> Properties:
    if "meta.xml" not in archive:
        return Properties()
    values: dict[str, str] = {}
    keywords = []
    for meta in tree_of(archive.open("meta.xml")):
        for one in meta:
            values.setdefault(one.tag, one.text or "")
            if one.tag == "keyword" and one.text:
                keywords.append(one.text)
    return properties(
        title=values.get("title", ""),
        author=values.get("initial-creator", "") or values.get("creator", ""),
        subject=values.get("subject", ""),
        keywords=",".join(keywords),
        created=values.get("creation-date", ""),
        modified=values.get("date", ""),
        language=values.get("language", ""),
    )
