"""Writes the blocks of an HTML page as text, in the manner of Markdown."""

from collections.abc import Sequence
from typing import Final

from docmill.documents.formats.drafts import Draft
from docmill.documents.formats.html_blocks import Block, Cell, Code, Paragraph, Table, flat

_LONGEST_CELL: Final = 1000
_MOST_COLUMNS: Final = 100
_INDENT: Final = "  "


def write(blocks: Sequence[Block], draft: Draft) -> None:
    """Adds ``blocks`` to ``draft``."""
    _Writer(draft).write(blocks)


class _Writer:
    """Attributes:
    _list: the first line of the open list.
    _item: the first line of the open item of the outermost list.
    _number: which list is open.
    """

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._list: int | None = None
        self._item = 0
        self._number = 0

    def write(self, blocks: Sequence[Block]) -> None:
        for block in blocks:
            if isinstance(block, Paragraph):
                self._write_paragraph(block)
            elif isinstance(block, Code):
                self._draft.add_code(block.lines, block.language)
            else:
                self._write_table(block)
        self._close_list()

    def _write_paragraph(self, block: Paragraph) -> None:
        draft = self._draft
        if block.level:
            self._close_list()
            draft.add_heading(block.level, block.lines[0][1], block.lines[0][0])
            return
        if not block.depth:
            self._close_list()
            draft.separate()
        else:
            self._open_item(block)
        indent = _INDENT * max(0, block.depth - 1)
        prefix = f"{indent}{block.marker} " if block.marker else indent + _INDENT * (block.depth > 0)
        for number, (line, text) in enumerate(block.lines):
            if number:
                prefix = " " * len(prefix)
            draft.add(f"{'> ' if block.quoted else ''}{prefix}{text}", line)

    def _open_item(self, block: Paragraph) -> None:
        draft = self._draft
        if block.list_number != self._number:
            self._close_list()
            self._number = block.list_number
        if self._list is None:
            draft.separate()
            self._list = self._item = draft.length
        elif block.marker and block.depth == 1:
            draft.note_block(self._item)
            self._item = draft.length
        elif not block.marker:
            draft.separate()

    def _close_list(self) -> None:
        if self._list is not None:
            self._draft.note_block(self._item)
            if self._list != self._item:
                self._draft.note_block(self._list)
            self._draft.separate()
            self._list = None

    def _write_table(self, table: Table) -> None:
        if table.laid_out or not _is_data(table):
            self.write(list(flat(table)))
            return
        self.write(table.caption)
        self._draft.separate()
        first, header_after = self._draft.length, None
        filler = _Filler()
        for number, row in enumerate(row for row in table.rows if row):
            texts = filler.filled(row)
            if not any(texts):
                continue
            source = next((paragraph.lines[0][0] for cell in row for paragraph in _paragraphs(cell)), 0)
            self._draft.add(f"| {' | '.join(texts)} |", source)
            if number == 0 and len(table.rows) > 1 and all(cell.heads for cell in row):
                self._draft.add("|" + " --- |" * len(texts), source)
                header_after = self._draft.length
        self._draft.note_block(first, header_after)
        self._draft.separate()


class _Filler:
    """Puts empty cells where a cell spans several columns or rows, so that columns stay below each other."""

    def __init__(self) -> None:
        self._left = 20_000
        self._below: dict[int, int] = {}

    def filled(self, row: Sequence[Cell]) -> list[str]:
        texts: list[str] = []
        for cell in row:
            self._skip(texts)
            start = len(texts)
            texts.append(" ".join(" ".join(text for _, text in paragraph.lines) for paragraph in _paragraphs(cell)).replace("|", "\\|"))
            if cell.columns > 1 and self._left > 0 and start + cell.columns <= _MOST_COLUMNS:
                texts += [""] * (cell.columns - 1)
                self._left -= cell.columns
            if cell.rows > 1 and len(texts) <= _MOST_COLUMNS:
                self._below.update(dict.fromkeys(range(start, len(texts)), cell.rows))
        self._skip(texts)
        self._below = {column: rows - 1 for column, rows in self._below.items() if rows > 1}
        return texts

    def _skip(self, texts: list[str]) -> None:
        while self._left > 0 and self._below.get(len(texts), 0) > 0 and len(texts) < _MOST_COLUMNS:
            texts.append("")
            self._left -= 1


def _paragraphs(cell: Cell) -> list[Paragraph]:
    return [block for block in cell.blocks if isinstance(block, Paragraph)]


def _is_data(table: Table) -> bool:
    """Whether it has columns of short texts; else it is there for the layout."""
    rows = [row for row in table.rows if row]
    if not any(len(row) > 1 for row in rows):
        return False
    return all(_is_short(cell) for row in rows for cell in row)


def _is_short(cell: Cell) -> bool:
    length = 0
    for block in cell.blocks:
        if not isinstance(block, Paragraph) or block.level:
            return False
        length += sum(len(text) for _, text in block.lines)
    return length <= _LONGEST_CELL
