"""Cuts a stretch of text into overlapping pieces of bounded size, at the most natural boundaries there are; takes linear time."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from docmill.chunking.graphemes import cut_at_or_after, cut_at_or_before
from docmill.domain.documents import WholeBlock

_VISIBLE: Final = re.compile(r"\S")


def _last(boundary: str) -> re.Pattern[str]:
    """Matches up to the end of the last ``boundary`` after which something follows."""
    return re.compile(rf"(?s:.*)(?:{boundary})(?=(?s:.))")


_SENTENCE_END: Final = r"[.!?…][\"'”’)\]]*\s|[。！？｡]+[”’」』）]*"
_LINE: Final = _last(r"\n")
_BLANK_LINE: Final = _last(r"\n[ \t]*\n")
_WORD: Final = _last(r"\s|[、，；：]")
_PUNCTUATION: Final = _last(r"[,;:)\]}>/|&=_-]")


@dataclass(frozen=True, slots=True)
class Boundaries:
    """Where a kind of text is best cut.

    Attributes:
        ends: where a piece may end, the best first; each matches up to the end of the last such place.
        starts: where an overlap may begin, the best first; each matches the place before it.
    """

    ends: tuple[re.Pattern[str], ...]
    starts: tuple[re.Pattern[str], ...]


PROSE: Final = Boundaries(
    ends=(_BLANK_LINE, _LINE, _last(_SENTENCE_END), _WORD, _PUNCTUATION),
    starts=(re.compile(rf"(?:\n|{_SENTENCE_END})\s*(?=\S)"), re.compile(r"(?:\s+|[、，；：])(?=\S)")),
)
CODE: Final = Boundaries(
    ends=(
        _last(r"\n[ \t]*\n(?=[^\s)\]}])"),  # a definition at the left margin
        _last(r"\n[ \t]*\n(?=(?: {1,4}|\t)[^\s)\]}])"),  # a member
        _last(r"\n(?=[^\s)\]}])"),
        _BLANK_LINE,
        _LINE,
        _WORD,
        _PUNCTUATION,
    ),
    starts=(re.compile(r"\n(?=[^\n])"),),
)
#: Cut where the size is reached.
ANYWHERE: Final = Boundaries((), ())


def cut(
    text: str, start: int, end: int, *, size: int, overlap: int, boundaries: Boundaries, blocks: Sequence[WholeBlock] = ()
) -> list[tuple[int, int]]:
    """The pieces of ``text[start:end]``, as places in ``text``; together they cover all of it that is visible.

    Args:
        size: the most characters of a piece.
        overlap: the most characters that a piece repeats of the one before it; at most half of ``size`` counts.
        blocks: what is to stay in one piece if it fits, in order.
    """
    fitting = [block for block in blocks if block.end - block.start <= size]
    return _Cutter(text, end, size, min(overlap, size // 2), boundaries, fitting).cut(start)


class _Cutter:
    """Cuts one stretch of text, which ends at ``end``; ``blocks`` are those that fit into a piece."""

    def __init__(self, text: str, end: int, size: int, overlap: int, boundaries: Boundaries, blocks: list[WholeBlock]) -> None:
        self._text = text
        self._end = end
        self._size = size
        self._overlap = overlap
        self._boundaries = boundaries
        self._blocks = blocks
        self._block_starts = [block.start for block in blocks]

    def cut(self, start: int) -> list[tuple[int, int]]:
        pieces: list[tuple[int, int]] = []
        done = covered = start
        start = self._next_visible(start)
        while start < self._end:
            done = self._end if self._end - start <= self._size else self._best_end(start, done)
            visible_end = start + len(self._text[start:done].rstrip())
            if visible_end > max(start, covered):  # else it would hold nothing, or only what is repeated
                pieces.append((start, visible_end))
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

    def _best_end(self, start: int, done: int) -> int:
        """Where the piece that begins at ``start`` ends: after ``done``, and with more text to follow."""
        remaining = self._end - start
        # Near the end the rest is divided, so that no tiny piece is left over.
        highest = start + min(self._size, remaining // 2 + self._size // 4)
        highest = max(highest, done + 1)
        lowest = max(start + self._size // 2, done)
        place = 0
        for boundary in self._boundaries.ends:
            found = boundary.match(self._text, lowest, highest + 1)
            if found is not None and found.end() > lowest:
                place = found.end()
                break
        place = cut_at_or_before(self._text, place or highest, max(start, done))
        block = self._block_around(place)
        if block is not None:
            if block.start > max(start, done):
                return block.start
            if block.end <= start + self._size:
                return block.end
        return place

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
                place = cut_at_or_after(self._text, earliest, done, start)
        if following - place > self._size // 2:
            return following  # little but white space would be repeated
        ahead = self._block_around(following + 1)
        if self._block_around(place) is not None or (ahead is not None and ahead.end - place > self._size):
            return following
        return place if place < done else following

    def _block_around(self, place: int) -> WholeBlock | None:
        """The block that a cut at ``place`` would part."""
        index = bisect_right(self._block_starts, place - 1) - 1
        return self._blocks[index] if index >= 0 and self._blocks[index].end > place else None
