"""Markdown's block structure as CommonMark 0.31 has it, as far as it is needed: headings, and blocks that are better kept whole.

A heading counts when it stands in the document itself: not in fenced code, a list item or a quote. In HTML blocks it
is one of HTML.
"""

import re
from dataclasses import dataclass
from typing import Final

from docmill.documents.markdown_html import BLANK_LINE, ends_html_heading, html_block_end, html_heading_level, html_heading_text
from docmill.domain.documents import Heading, Outline, WholeBlock

_LONGEST_HEADING: Final = 200
_CODE_INDENT: Final = 4
#: A line that begins otherwise continues or starts a paragraph.
_MARKUP: Final = frozenset("#`~<=-_*+>|:0123456789 \t")
_TABLE_RULE: Final = frozenset(" \t|:-")

_UNDERLINE: Final = re.compile(r"(?:=+|-+)[ \t]*\Z")
_FENCE: Final = re.compile(r"(?:(`{3,})[^`]*|(~{3,}).*)\Z")
_BREAK: Final = re.compile(r"(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})\Z")
_ITEM: Final = re.compile(r"(?:[-+*]|(\d{1,9})[.)])(?=[ \t]|\Z)")


@dataclass(frozen=True, slots=True)
class _Fence:
    """Open fenced code; ``container`` is how far its lines are indented at least, when it stands in a list item."""

    character: str
    length: int
    container: int
    start: int


def outline_of(text: str, start: int = 0, *, most_headings: int | None = None) -> Outline:
    """The outline of ``text`` from the line that begins at ``start`` on; takes linear time.

    Args:
        most_headings: end after so many.
    """
    return _OutlineReader(text).read(start, most_headings)


class _OutlineReader:
    """Reads line by line and remembers what is open.

    Attributes:
        _html_heading: the level of the open heading of HTML, and where its first line begins.
        _paragraph: where the open paragraph of the document itself begins.
        _lazy: whether a paragraph in a list item or a quote is open; a plain line continues it, however it is indented.
        _item: how far the content of the open list item is indented; 0 when none is open.
        _list: where the open list begins and where its last item does; ``_list_end`` is the end of its last line that is not blank.
        _table: where the open table begins, and where its header ends.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._headings: list[Heading] = []
        self._blocks: list[WholeBlock] = []
        self._fence: _Fence | None = None
        self._html_end: re.Pattern[str] | None = None
        self._html_heading: tuple[int, int] | None = None
        self._paragraph: int | None = None
        self._lazy = False
        self._item = 0
        self._list: tuple[int, int] | None = None
        self._list_end = 0
        self._table: tuple[int, int] | None = None
        self._previous = 0

    def read(self, start: int, most_headings: int | None) -> Outline:
        position = start
        headings = self._headings
        for line in self._text[start:].split("\n"):
            following = position + len(line) + 1
            if self._fence is not None or self._html_end is not None or self._item or (line and line[0] in _MARKUP):
                self._read_line(line, position, following)
                if self._item and line and not line.isspace():
                    self._list_end = following
                if most_headings is not None and len(headings) >= most_headings:
                    return self._outline()
            elif not line:
                self._read_blank(position)
            elif self._paragraph is None and not self._lazy and self._table is None:
                self._paragraph = position
            self._previous = position
            position = following
        if self._fence is not None:
            self._add_block(self._fence.start, position)
        self._end_blocks(position)
        return self._outline()

    def _outline(self) -> Outline:
        return Outline(self._headings, sorted(self._blocks, key=lambda block: (block.start, -block.end)))

    def _read_line(self, line: str, position: int, following: int) -> None:
        content = line.lstrip(" \t")
        indent = _width(line[: len(line) - len(content)])
        if self._fence is not None and self._stays_in_fence(self._fence, content, indent, position, following):
            return
        if self._html_end is not None:
            if self._html_end is BLANK_LINE and content:
                self._read_html(content, position, following)
            elif self._html_end is BLANK_LINE or self._html_end.search(line):
                self._html_end = None
            return
        if not content:
            self._read_blank(position)
        elif self._item and indent >= self._item:
            self._lazy = not self._opens_fence(content, self._item, position)
        else:
            self._read_content(content, indent, position, following)

    def _read_blank(self, position: int) -> None:
        self._close_table(position)
        self._paragraph, self._lazy = None, False

    def _stays_in_fence(self, fence: _Fence, content: str, indent: int, position: int, following: int) -> bool:
        """Whether the line belongs to the open fence; one that leaves its list item closes it and does not."""
        if content and indent < fence.container:
            self._fence = None
            self._add_block(fence.start, position)
            return False
        closes = content.startswith(fence.character * fence.length) and not content.lstrip(fence.character).strip()
        if closes and indent - fence.container < _CODE_INDENT:
            self._fence = None
            self._add_block(fence.start, following)
        return True

    def _read_content(self, content: str, indent: int, position: int, following: int) -> None:
        """A line that is not blank and is in no fence, HTML block or, unless lazily, list item."""
        if indent >= _CODE_INDENT and not self._item:
            return  # indented code, or the continuation of a paragraph
        if self._paragraph is not None and content[0] in "=-" and _UNDERLINE.match(content):
            title = " ".join(self._text[self._paragraph : position].split())
            self._add_heading(1 if content[0] == "=" else 2, title, self._paragraph, following)
        elif content[0] == "#" and (level := _atx_level(content)):
            self._close_table(position)
            self._add_heading(level, _atx_text(content, level), position, following)
        elif _BREAK.match(content):
            self._end_blocks(position)
        elif (marker := self._item_marker(content)) is not None:
            self._end_blocks(position, list_goes_on=True)
            self._open_item(position)
            rest = content[marker:].lstrip(" \t")
            gap = _width(content[marker : len(content) - len(rest)])
            self._item = indent + marker + (gap if rest and gap <= _CODE_INDENT else 1)
            self._lazy = bool(rest) and not self._opens_fence(rest, self._item, position)
        elif content[0] == ">":
            self._end_blocks(position)
            self._lazy = _FENCE.match(content.lstrip("> \t")) is None
        elif (end := html_block_end(content, in_paragraph=self._paragraph is not None or self._lazy)) is not None:
            self._end_blocks(position)
            self._html_end = None if end is not BLANK_LINE and end.search(content) else end
            self._html_heading = None
            if end is BLANK_LINE:
                self._read_html(content, position, following)
        elif not self._opens_fence(content, 0, position):
            self._read_text(content, position, following)

    def _read_html(self, content: str, position: int, following: int) -> None:
        if self._html_heading is None and (level := html_heading_level(content)):
            self._html_heading = level, position
        if self._html_heading is not None and ends_html_heading(content):
            level, start = self._html_heading
            self._html_heading = None
            if title := html_heading_text(self._text[start:following]):
                self._add_heading(level, title, start, following)

    def _read_text(self, content: str, position: int, following: int) -> None:
        if self._lazy:
            return
        self._close_list()
        if self._table is not None:
            return
        if self._paragraph is None:
            self._paragraph = position
        elif "|" in content and "-" in content and _TABLE_RULE.issuperset(content):
            self._table = max(self._previous, self._paragraph), following
            self._paragraph = None

    def _item_marker(self, content: str) -> int | None:
        """How long the marker is, when a list item begins."""
        marker = _ITEM.match(content)
        if marker is None:
            return None
        interrupts = self._item > 0 or self._paragraph is None
        if not interrupts and (marker[1] not in (None, "1") or not content[marker.end() :].strip()):
            return None
        return marker.end()

    def _opens_fence(self, content: str, container: int, position: int) -> bool:
        fence = _FENCE.match(content) if content[0] in "`~" else None
        if fence is None:
            return False
        if not container:
            self._end_blocks(position)
        self._fence = _Fence(content[0], len(fence[1] or fence[2]), container, position)
        return True

    def _end_blocks(self, position: int, *, list_goes_on: bool = False) -> None:
        self._close_table(position)
        self._paragraph, self._lazy = None, False
        if not list_goes_on:
            self._close_list()

    def _close_table(self, position: int) -> None:
        if self._table is not None:
            start, header_end = self._table
            self._add_block(start, position, header_end if header_end < position else None)
            self._table = None

    def _open_item(self, position: int) -> None:
        start = position if self._list is None else self._list[0]
        self._close_item()
        self._list = start, position

    def _close_item(self) -> None:
        """Adds the last item as a block of its own: a list that is too long is parted between its items."""
        if self._list is not None and self._text.find("\n", self._list[1], self._list_end) + 1 not in (0, self._list_end):
            self._add_block(self._list[1], self._list_end)

    def _close_list(self) -> None:
        self._item = 0
        if self._list is not None:
            start, item = self._list
            if start != item:
                self._close_item()
            self._add_block(start, self._list_end)
            self._list = None

    def _add_heading(self, level: int, text: str, start: int, end: int) -> None:
        shown = text if len(text) <= _LONGEST_HEADING else text[: _LONGEST_HEADING - 1].rstrip() + "…"
        self._headings.append(Heading(level, shown, start, min(end, len(self._text))))
        self._paragraph, self._lazy = None, False
        self._close_list()

    def _add_block(self, start: int, end: int, header_end: int | None = None) -> None:
        self._blocks.append(WholeBlock(start, min(end, len(self._text)), header_end))


def _width(indentation: str) -> int:
    return len(indentation.expandtabs(4)) if "\t" in indentation else len(indentation)


def _atx_level(content: str) -> int:
    """The level of an ATX heading; 0 for what is none."""
    level = len(content) - len(content.lstrip("#"))
    return level if level <= 6 and content[level : level + 1] in ("", " ", "\t") else 0


def _atx_text(content: str, level: int) -> str:
    text = content[level:].strip(" \t")
    bare = text.rstrip("#")
    return bare.rstrip(" \t") if not bare or bare[-1] in " \t" else text
