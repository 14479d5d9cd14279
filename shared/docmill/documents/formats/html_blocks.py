"""Blocks of an HTML page: paragraphs, headings, code, list items and tables, in order, made from its pieces without what is left out."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from docmill.documents.formats.html_flow import BLOCKS, HEADINGS, Piece
from docmill.documents.formats.inline import Inline, Line, Preformatted
from docmill.documents.formats.markup import Mark

_DEEPEST_TABLE: Final = 8
_DEEPEST_LIST: Final = 6
_LISTS: Final = frozenset(["ul", "ol", "menu", "dir"])
#: What may stand in a heading without ending it.
_IN_HEADINGS: Final = frozenset(["div", "center", "address", "header", "hgroup", "dir"])
#: Links to the heading that they stand in.
_PERMALINKS: Final = frozenset(["¶", "§", "#", "🔗", "⚓", "⚓︎", "Link", "Permalink"])
_LANGUAGE: Final = re.compile(r"(?:^|\s)(?:language-|lang-|highlight-source-|highlight-|brush:\s*|sourceCode\s+)([A-Za-z][\w+#-]{0,29})")
_NO_LANGUAGES: Final = frozenset(["default", "none", "text", "plaintext", "notranslate", "plain"])
_FEWEST_WORDS_OF_IMAGE: Final = 2


@dataclass(slots=True)
class Paragraph:
    """Running text.

    Attributes:
        lines: as the page has them.
        level: 0, or that of the heading that it is.
        depth: how many lists it stands in.
        marker: of the item that begins with it, such as ``-``.
        quoted: whether it is a quote.
        list_number: which list it stands in, the outermost one.
    """

    lines: list[Line]
    level: int = 0
    depth: int = 0
    marker: str = ""
    quoted: bool = False
    list_number: int = 0


@dataclass(slots=True)
class Code:
    """Preformatted text."""

    lines: list[Line]
    language: str = ""


@dataclass(slots=True)
class Cell:
    """A cell of a table, with how many columns and rows it takes."""

    blocks: "list[Block]"
    heads: bool
    columns: int = 1
    rows: int = 1


@dataclass(slots=True)
class Table:
    """A table; ``caption`` stands before it.

    Attributes:
        laid_out: it only places things on the page.
        in_head: whether the rows that come belong to its head.
    """

    laid_out: bool
    in_head: bool = False
    rows: list[list[Cell]] = field(default_factory=list)
    caption: "list[Block]" = field(default_factory=list)


Block = Paragraph | Code | Table


@dataclass(slots=True)
class _List:
    ordered: bool
    number: int


class BlockBuilder:
    """Takes the pieces that are to be in the text."""

    def __init__(self) -> None:
        self._page: list[Block] = []
        self._sinks: list[list[Block]] = [self._page]
        self._tables: list[Table | None] = []
        self._inline = Inline()
        self._lists: list[_List] = []
        self._list_number = 0
        self._marker = ""
        self._level = 0
        self._quotes = 0
        self._pre: Preformatted | None = None
        self._language = ""
        self._in_link = False
        self._after_link = False

    def add(self, piece: Piece) -> None:
        """The next piece."""
        if piece.mark is Mark.TEXT:
            self._add_text(piece)
        elif piece.mark is Mark.START:
            self._start(piece)
        else:
            self._end(piece.text)

    def blocks(self) -> list[Block]:
        """All blocks, when there are no more pieces."""
        self._flush()
        return self._page

    def _add_text(self, piece: Piece) -> None:
        if self._pre is not None:
            self._pre.add(piece.text, piece.line)
        elif not (self._in_link and piece.text.strip() in _PERMALINKS):
            self._inline.add(piece.text, piece.line)

    def _start(self, piece: Piece) -> None:
        name = piece.text
        if name in ("pre", "code", "div", "figure") and piece.attributes:
            self._language = _language_of(piece) or self._language
        if self._pre is not None:
            if name == "br" or name in BLOCKS:
                self._pre.break_line(piece.line, forced=name == "br")
            return
        if name in BLOCKS:
            self._start_block(name, piece)
        elif name == "br":
            self._inline.break_line()
        elif name == "img":
            alternative = " ".join(piece.attributes.get("alt", "").split())
            if len(alternative.split()) >= _FEWEST_WORDS_OF_IMAGE:
                self._inline.add(f" {alternative} ", piece.line)
        elif name == "a":
            if self._after_link:
                self._inline.add(" ", piece.line)
            self._in_link = True
        elif "-" in name or name in ("td", "th", "button", "label", "input"):
            self._inline.add(" ", piece.line)
        self._after_link = False

    def _start_block(self, name: str, piece: Piece) -> None:
        if self._level and name in _IN_HEADINGS:
            self._inline.add(" ", piece.line)
            return
        if self._flush():
            self._level = 0
        if name in HEADINGS:
            self._level = HEADINGS[name]
        elif name == "pre":
            self._pre = Preformatted()
        elif name in _LISTS:
            self._list_number += not self._lists
            start = piece.attributes.get("start", "")
            self._lists.append(_List(name == "ol", int(start) if start.isascii() and start.isdigit() and len(start) < 7 else 1))
        elif name == "li":
            self._marker = "-"
            if self._lists and self._lists[-1].ordered:
                self._marker = f"{self._lists[-1].number}."
                self._lists[-1].number += 1
        elif name == "blockquote":
            self._quotes += 1
        elif name == "table":
            laid_out = piece.attributes.get("role") in ("presentation", "none")
            table = Table(laid_out) if len(self._tables) < _DEEPEST_TABLE else None
            self._tables.append(table)
            if table is not None:
                self._sinks.append(table.caption)
        elif self._tables and (table := self._tables[-1]) is not None:
            self._start_in_table(table, name, piece)

    def _start_in_table(self, table: Table, name: str, piece: Piece) -> None:
        if name in ("thead", "tbody", "tfoot"):
            table.in_head = name == "thead"
        elif name == "tr":
            table.rows.append([])
        elif name in ("td", "th"):
            if not table.rows:
                table.rows.append([])
            columns, rows = _span(piece.attributes.get("colspan")), _span(piece.attributes.get("rowspan"))
            cell = Cell([], name == "th" or table.in_head, columns, rows)
            table.rows[-1].append(cell)
            self._sinks[-1] = cell.blocks

    def _end(self, name: str) -> None:
        if self._pre is not None:
            if name == "pre":
                lines = self._pre.taken()
                self._pre = None
                if lines:
                    self._sinks[-1].append(Code(lines, self._language))
                self._language = ""
            elif name in BLOCKS:
                self._pre.break_line(None, forced=False)
            return
        self._after_link = name == "a" or (self._after_link and name not in BLOCKS)
        if name == "a":
            self._in_link = False
        if name not in BLOCKS:
            return
        if self._level and name in _IN_HEADINGS:
            self._inline.add(" ", 0)
            return
        self._flush()
        if name in HEADINGS:
            self._level = 0
        elif name in _LISTS and self._lists:
            self._lists.pop()
            self._marker = ""
        elif name == "li":
            self._marker = ""
        elif name == "blockquote":
            self._quotes -= 1
        elif name == "table" and self._tables:
            table = self._tables.pop()
            if table is not None:
                self._sinks.pop()
                self._sinks[-1].append(table)
        elif name in ("td", "th", "caption") and self._tables and (table := self._tables[-1]) is not None:
            # What stands between cells is shown before the table.
            self._sinks[-1] = table.caption

    def _flush(self) -> bool:
        """Ends the open paragraph; whether there was one."""
        paragraphs = self._inline.take()
        for lines in paragraphs:
            if self._level:
                lines = [(lines[0][0], " ".join(text for _, text in lines))]
            depth = min(len(self._lists), _DEEPEST_LIST)
            self._sinks[-1].append(Paragraph(lines, self._level, depth, self._marker, self._quotes > 0, self._list_number))
            self._marker = ""
        return bool(paragraphs)


def _language_of(piece: Piece) -> str:
    said = piece.attributes.get("data-lang") or piece.attributes.get("data-language")
    if not said:
        match = _LANGUAGE.search(piece.attributes.get("class", ""))
        said = match[1] if match is not None else ""
    return "" if said in _NO_LANGUAGES or len(said) > 30 or not said.isprintable() else said


def _span(said: str | None) -> int:
    return max(1, int(said)) if said and said.isascii() and said.isdigit() and len(said) < 4 else 1


def flat(table: Table) -> Iterator[Block]:
    """What is in a table, one after the other."""
    yield from table.caption
    for row in table.rows:
        for cell in row:
            yield from cell.blocks
