"""Outlines of formats that are read line by line: headings and blocks are given by the numbers of their lines, from 0."""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Final

from docmill.domain.documents import Heading, Outline, WholeBlock

_LONGEST_HEADING: Final = 200


class LineOutline:
    """Collects what is found in a text; the lines have no line breaks."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._starts = [0, *accumulate(len(line) + 1 for line in lines)]
        self._length = max(0, self._starts[-1] - 1)
        self._headings: list[Heading] = []
        self._blocks: list[WholeBlock] = []
        self._list: tuple[int, int] | None = None
        self._list_after = 0

    def start_of(self, line: int) -> int:
        """Where a line begins in the text; the text's end for the line after the last."""
        return min(self._starts[line], self._length)

    def line_at(self, place: int) -> int:
        """The line that holds a place in the text."""
        return bisect_right(self._starts, place) - 1

    def add_heading(self, level: int, text: str, first: int, after: int) -> None:
        """A heading that takes the lines from ``first`` to before ``after``; nothing when its text is blank."""
        words = " ".join(text.split())
        if words:
            shown = words if len(words) <= _LONGEST_HEADING else words[: _LONGEST_HEADING - 1].rstrip() + "…"
            self._headings.append(Heading(level, shown, self.start_of(first), self.start_of(after)))

    def add_block(self, first: int, after: int, header_after: int | None = None) -> None:
        """A block that is better kept whole; ``header_after`` is the line after the header rows of a table."""
        if after - first > 1:
            header_end = None if header_after is None or not first < header_after < after else self.start_of(header_after)
            self._blocks.append(WholeBlock(self.start_of(first), self.start_of(after), header_end))

    def open_item(self, line: int) -> None:
        """A list item begins, of the open list or of a new one."""
        start = line if self._list is None else self._list[0]
        self._close_item()
        self._list, self._list_after = (start, line), line + 1

    @property
    def in_list(self) -> bool:
        """Whether a list is open."""
        return self._list is not None

    def go_on_in_list(self, line: int) -> None:
        """The line, which is not blank, belongs to the open list."""
        self._list_after = line + 1

    def close_list(self) -> None:
        """The open list has ended, if there is one."""
        if self._list is not None:
            start, item = self._list
            if start != item:
                self._close_item()
            self.add_block(start, self._list_after)
            self._list = None

    def outline(self) -> Outline:
        """What was found, in order."""
        self.close_list()
        return Outline(self._headings, sorted(self._blocks, key=lambda block: (block.start, -block.end)))

    def first_heading(self) -> str:
        """The text of the first heading, "" where there is none."""
        return self._headings[0].text if self._headings else ""

    def _close_item(self) -> None:
        if self._list is not None:
            self.add_block(self._list[1], self._list_after)


def indent_of(line: str) -> int:
    """How many columns a line is indented; a tab goes to the next multiple of 8."""
    bare = line.lstrip(" \t")
    indentation = line[: len(line) - len(bare)]
    return len(indentation.expandtabs(8)) if "\t" in indentation else len(indentation)


def after_deeper(lines: Sequence[str], first: int, indent: int) -> int:
    """The line after the last one from ``first`` on that is indented by more than ``indent``, blank ones in between included."""
    after = line = first
    while line < len(lines) and (not lines[line].strip() or indent_of(lines[line]) > indent):
        line += 1
        if lines[line - 1].strip():
            after = line
    return after
