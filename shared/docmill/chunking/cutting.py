"""Cuts a stretch of text into overlapping pieces of bounded size, at the most natural boundaries there are; takes linear time."""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from docmill.chunking.blocks import Blocks
from docmill.chunking.boundaries import ANYWHERE, CODE, LINES, ROWS, Boundaries, End
from docmill.chunking.graphemes import cut_at_or_after, cut_at_or_before
from docmill.domain.documents import WholeBlock

_VISIBLE: Final = re.compile(r"\S")
_SPACE: Final = re.compile(r"\s")
#: From here on, Thai and what comes after it in Unicode, scripts often put no spaces between words.
_WITHOUT_SPACES: Final = "\u0e00"


class Piece(NamedTuple):
    """A stretch of a text.

    Attributes:
        header: the header rows of the table that it goes on with, with their line break; "" elsewhere.
    """

    start: int
    end: int
    header: str = ""


def cut(
    text: str, start: int, end: int, *, size: int, overlap: int, boundaries: Boundaries, blocks: Sequence[WholeBlock] = ()
) -> list[Piece]:
    """The pieces of ``text[start:end]``, as places in ``text``; together they cover all of it that is visible.

    Args:
        size: the most characters of a piece with its header.
        overlap: the most characters that a piece repeats of the one before it; at most half of ``size`` counts.
        blocks: what is to stay in one piece if it fits, in order. A table that does not fit is cut between rows, and pieces that begin
            in it get its header rows, if those are at most half of ``size``.
    """
    end = start + len(text[start:end].rstrip())
    return _Cutter(text, end, size, min(overlap, size // 2), boundaries, Blocks(blocks, size) if blocks else None).cut(start)


class _Cutter:
    """Cuts one stretch of text, which ends at ``end``."""

    def __init__(self, text: str, end: int, size: int, overlap: int, boundaries: Boundaries, blocks: Blocks | None) -> None:
        self._text = text
        self._end = end
        self._size = size
        self._overlap = overlap
        self._boundaries = boundaries
        self._blocks = blocks

    def cut(self, start: int) -> list[Piece]:
        pieces: list[Piece] = []
        done = covered = start
        start = self._next_visible(start)
        while start < self._end:
            header = "" if self._blocks is None else self._header_at(start, self._blocks)
            size = self._size - len(header)
            done = self._end if self._end - start <= size else self._best_end(start, done, size)
            visible_end = start + len(self._text[start:done].rstrip())
            if visible_end > max(start, covered):  # else it would hold nothing, or only what is repeated
                pieces.append(Piece(start, visible_end, header))
                covered = visible_end
            following = self._next_visible(done)
            start = following if following >= self._end else self._overlapping_start(start, done, following)
        return pieces

    def _next_visible(self, place: int) -> int:
        """The next visible character, or the beginning of its line when that is not before ``place``: indentation is kept.

        An indentation of more than half a piece is not.
        """
        found = _VISIBLE.search(self._text, place, self._end)
        if found is None:
            return self._end
        line = self._text.rfind("\n", place, found.start()) + 1
        if not line and (place == 0 or self._text[place - 1] == "\n"):
            line = place
        elif not line:
            return found.start()
        return line if found.start() - line <= self._size // 2 else found.start()

    def _header_at(self, start: int, blocks: Blocks) -> str:
        """The header rows of the table whose later rows begin at ``start``."""
        table = blocks.parted_around(start)
        if table is None or table.header_end is None or table.header_end > start:
            return ""
        header = self._text[table.start : table.header_end]
        return header if len(header) <= self._size // 2 and header.endswith("\n") else ""

    def _best_end(self, start: int, done: int, size: int) -> int:
        """Where the piece that begins at ``start`` ends: after ``done``, and with more text to follow."""
        remaining = self._end - start
        # Near the end the rest is divided, so that no tiny piece is left over.
        highest = start + min(size, remaining // 2 + size // 4)
        highest = max(highest, done + 1)
        least = max(start, done)
        half = max(start + size // 2, done)
        parted = None if self._blocks is None else self._blocks.parted_around(highest)
        boundaries = self._boundaries
        if parted is not None and boundaries is not ANYWHERE:
            boundaries = LINES if parted.header_end is None else ROWS
        place = self._last_boundary(boundaries.ends, half, least, highest)
        if parted is not None and place <= (parted.header_end or parted.start):  # a header without a row says nothing
            place = parted.start if least < parted.start else self._last_boundary(self._boundaries.ends, half, least, highest)
        if not place and boundaries.ends:
            latest = start + size  # what is there may end exactly
            place = latest if self._text[latest].isspace() else self._last_boundary(boundaries.ends, half, least, latest)
        place = place or self._last_boundary(boundaries.inside, half, least, highest)
        place = cut_at_or_before(self._text, place or highest, least)
        block = None if self._blocks is None else self._blocks.whole_around(place)
        if block is not None:
            if block.start > least:
                return block.start
            if block.end <= start + size:
                return block.end
        return place

    def _last_boundary(self, ends: tuple[End, ...], half: int, least: int, highest: int) -> int:
        """The last place from ``least`` + 1 to ``highest`` at the best boundary there is; 0 where there is none."""
        for boundary in ends:
            lowest = least if boundary.anywhere else half
            found = boundary.pattern.match(self._text, lowest, highest + 1)
            if found is not None and found.end() > lowest and (boundary.stop is None or self._fits(found.end(), boundary.stop)):
                return found.end()
        return 0

    def _start_without_spaces(self, start: int, earliest: int, done: int, following: int) -> int:
        """Where an overlap begins in a script without spaces; ``following`` where that would be inside a word of another."""
        place = cut_at_or_after(self._text, earliest, done, start)
        inside = self._boundaries is not ANYWHERE and place < done and not self._text[place - 1].isspace()
        return following if inside and self._text[place] < _WITHOUT_SPACES else place

    def _has_room(self, place: int, following: int) -> bool:
        """Whether a piece that begins at ``place`` holds the first word of what follows."""
        latest = place + self._size
        return self._end <= latest or _SPACE.search(self._text, following, latest + 1) is not None

    def _fits(self, place: int, stop: re.Pattern[str]) -> bool:
        """Whether what begins at ``place`` ends within a piece."""
        return self._end - place <= self._size or stop.search(self._text, place, place + self._size + 1) is not None

    def _overlapping_start(self, start: int, done: int, following: int) -> int:
        """Where the next piece begins: at most ``overlap`` before ``done``, or at ``following`` when nothing is to be repeated."""
        earliest = max(done - self._overlap, start + 1)
        if earliest >= done:
            return following
        place = following
        for boundary in self._boundaries.starts:
            found = boundary.search(self._text, earliest - 1, done)
            if found is not None and found.end() >= earliest:
                place = found.end()
                break
        else:
            if self._boundaries is not CODE:
                place = self._start_without_spaces(start, earliest, done, following)
        if following - place > self._size // 2 or place >= done or self._text[place:done].isspace():
            return following  # little but white space would be repeated
        if self._boundaries is not ANYWHERE and self._text[following] < _WITHOUT_SPACES and not self._has_room(place, following):
            return following
        if self._blocks is not None:
            ahead = self._blocks.whole_around(following + 1)
            parts_block = self._blocks.whole_around(place) is not None or self._blocks.parted_around(place + 1) is not None
            if parts_block or (ahead is not None and ahead.end - place > self._size):
                return following
        return place
