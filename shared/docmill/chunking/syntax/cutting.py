"""Cuts source code between lines where that parts least: definitions stay whole where they fit, small ones go together."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from docmill.chunking.boundaries import LINES
from docmill.chunking.cutting import cut
from docmill.chunking.syntax.languages import LANGUAGES
from docmill.chunking.syntax.names import Role
from docmill.chunking.syntax.parsing import parse
from docmill.chunking.syntax.structure import Definition, Structure, structure_of

#: About as many characters as embedding models were trained on at once.
_TOGETHER: Final = 800
_MOST_SYMBOLS: Final = 64
_MOST_HEADINGS: Final = 8


@dataclass(frozen=True, slots=True)
class CodePiece:
    """A stretch of source code: whole lines, or a part of one that is too long.

    Attributes:
        line: the first line, from 0.
        headings: the scopes around it, and what it is itself if it is one definition.
        symbols: what is defined in it, and the function of which it is a part.
    """

    start: int
    end: int
    line: int
    headings: tuple[str, ...]
    symbols: tuple[str, ...]


def code_pieces(text: str, language: str | None, size: int) -> list[CodePiece] | None:
    """The pieces of ``text``, which hold every line that is not blank once, and blank ones where there is room for them.

    None where the syntax is not known or cannot be had; see ``parse``.

    Args:
        size: the most characters of a piece.
    """
    if language is None or language not in LANGUAGES:
        return None
    parsed = parse(text, language)
    lines = text.removesuffix("\n").split("\n")
    structure = None if parsed is None else structure_of(parsed, language, lines, size)
    return None if structure is None else _LineCutter(text, lines, structure, size).pieces()


#: The line before which a cut may be, and how many characters a stretch that ends there has, without blank lines at its end.
_Boundary: TypeAlias = tuple[int, int]


class _LineCutter:
    """Cuts between lines; places are numbers of lines, from 0, and a cut is before its line.

    Definitions go together up to much less than the size, since a piece of one meaning is found better than one of five. A line that is
    larger than a piece is one of its own.
    """

    def __init__(self, text: str, lines: Sequence[str], structure: Structure, size: int) -> None:
        self._text = text
        self._structure = structure
        self._size = size
        self._together = min(size, max(size // 5, _TOGETHER))
        self._tiny = size // 40
        starts = [0]
        for line in lines:
            starts.append(starts[-1] + len(line) + 1)
        self._starts = starts
        self._visible = [number for number, line in enumerate(lines) if line and not line.isspace()]
        self._ends = [starts[number + 1] - 1 for number in self._visible]
        self._count = len(lines)

    def pieces(self) -> list[CodePiece]:
        """All pieces."""
        described = _Descriptions(self._structure.definitions)
        pieces: list[CodePiece] = []
        for first, after in self._merged(self._stretches()):
            last_visible = self._visible_before(after)
            headings, symbols = described.of(first, last_visible)
            start, end = self._starts[first], min(self._starts[after] - 1, len(self._text))
            if end - start > self._size:
                end = self._starts[last_visible + 1] - 1  # there is no room for the blank lines
            if end - start <= self._size:
                pieces.append(CodePiece(start, end, first, headings, symbols))
                continue
            parts = cut(self._text, start, end, size=self._size, overlap=0, boundaries=LINES)
            pieces += [CodePiece(part.start, part.end, first, headings, symbols) for part in parts]
        return pieces

    def _stretches(self) -> list[tuple[int, int]]:
        """First lines, and the lines after the last ones."""
        if not self._visible:
            return []
        first = (
            0
            if self._starts[self._visible[0]] <= self._size // 2 and self._length(0, self._visible[0] + 1) <= self._size
            else self._visible[0]
        )
        stretches: list[tuple[int, int]] = []
        while first < self._count:
            after = self._end_of(first)
            stretches.append((first, after))
            first = after
        return stretches

    def _end_of(self, first: int) -> int:
        """Where the stretch that begins at ``first`` ends."""
        index = bisect_left(self._visible, first) + 1
        levels, level = self._structure.levels, self._structure.levels[first]
        most = self._size if self._structure.in_functions[first] else self._together
        siblings: list[_Boundary] = []  # those that part no more than the one at the beginning does
        inner: list[_Boundary] = []  # of the others those that part least
        least = 0
        while (length := self._ends[index - 1] - self._starts[first]) <= self._size:
            place = self._visible[index] if index < len(self._visible) else self._count
            parted = levels[place] if place < self._count else -1
            if parted <= level:
                siblings.append((place, length))
                if parted < level or length > most:
                    break
            elif not inner or parted < least:
                inner, least = [(place, length)], parted
            elif parted == least:
                inner.append((place, length))
            index += 1
        if siblings:
            return self._chosen(siblings, most)
        if inner:
            return self._chosen(inner, self._size if self._structure.in_functions[inner[0][0]] else most)
        return self._visible[index] if index < len(self._visible) else self._count

    def _chosen(self, boundaries: list[_Boundary], most: int) -> int:
        """The last within ``most`` characters, one after a blank line first; the first of all where none is."""
        fitting = [boundary for boundary in boundaries if boundary[1] <= most]
        if not fitting:
            return boundaries[0][0]
        for place, length in reversed(fitting):
            if length < most // 2:
                break
            if place == self._count or self._visible_before(place) < place - 1:
                return place
        return fitting[-1][0]

    def _merged(self, stretches: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """Tiny stretches go with the neighbour that they have more in common with, and small ones with what they are the head of."""
        levels = self._structure.levels
        merged: list[tuple[int, int]] = []
        for first, after in stretches:
            if merged:
                begin, _ = before = merged[-1]
                union = self._length(begin, after)
                follows = levels[after] if after < self._count else -1
                tiny = self._length(*before) < self._tiny or (self._length(first, after) < self._tiny and levels[first] >= follows)
                if (tiny and union <= self._size) or (union <= self._together and levels[first] > levels[begin]):
                    merged[-1] = begin, after
                    continue
            merged.append((first, after))
        return merged

    def _length(self, first: int, after: int) -> int:
        """Of the lines from ``first`` to before ``after``, without blank ones at the end."""
        return self._starts[self._visible_before(after) + 1] - 1 - self._starts[first]

    def _visible_before(self, place: int) -> int:
        return self._visible[bisect_right(self._visible, place - 1) - 1]


class _Descriptions:
    """Headings and symbols of stretches that are asked for in order."""

    def __init__(self, definitions: Sequence[Definition]) -> None:
        self._definitions = definitions
        self._next = 0
        self._open: list[Definition] = []

    def of(self, first: int, last: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Those of the lines from ``first`` to ``last``."""
        while self._open and self._open[-1].last < first:
            self._open.pop()
        begun: list[Definition] = []
        while self._next < len(self._definitions) and self._definitions[self._next].first <= last:
            begun.append(self._definitions[self._next])
            self._next += 1
        around: list[Definition] = []
        parted: list[Definition] = []
        for one in reversed(self._open):
            if one.named.role is Role.FUNCTION:
                parted.append(one)
            if one.last >= last:
                around.append(one)
                if len(around) == _MOST_HEADINGS:
                    break
        headings = [one.named.heading for one in (*reversed(around), *begun) if one.first <= first and one.last >= last]
        symbols = dict.fromkeys(
            ".".join(one.path) for one in (*reversed(parted), *begun) if one.named.is_symbol and one.named.role is not Role.NAMESPACE
        )
        self._open += [one for one in begun if one.last > last]
        return tuple(headings[-_MOST_HEADINGS:]), tuple(symbols)[:_MOST_SYMBOLS]
