"""The lines of a PDF page in reading order, from where its words stand; pure.

Words that stand close together are a run; runs are ordered by recursive cuts along the white space of the page (XY-cut: Nagy and Seth,
"Hierarchical representation of optically scanned documents", 1984), first between columns of text, then across the page.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from docmill.documents.containers.pdf_words import Word

#: As parts of the height of a line.
_RUN_GAP: Final = 1.0
_GUTTER: Final = 0.9
_COLUMN_LINES: Final = 4
#: Cells of tables are shorter; a column of them is read row by row.
_COLUMN_CHARACTERS: Final = 14
_COLUMN_FILL: Final = 0.5
#: A drawing may have thousands of labels, which have no order.
_MOST_RUNS: Final = 2_000
_MOST_CUTS: Final = 60


@dataclass(slots=True)
class Run:
    """Words on one line, close together."""

    words: list[str]
    left: float
    bottom: float
    right: float
    top: float
    place: int
    last: int
    is_upright: bool

    @property
    def height(self) -> float:
        """Of its line."""
        return self.top - self.bottom


@dataclass(frozen=True, slots=True)
class Line:
    """A line as it is read.

    Attributes:
        place: of its first character in the page.
        last: of its last character.
        block: lines of one column, or of one part of the page, have the same number.
    """

    text: str
    left: float
    bottom: float
    right: float
    top: float
    place: int
    last: int
    block: int

    @property
    def height(self) -> float:
        """From the lowest to the highest letter."""
        return self.top - self.bottom


def lines_of(words: Sequence[Word]) -> list[Line]:
    """The lines of a page from top to bottom, column after column."""
    runs = _runs(words)
    if not runs:
        return []
    if len(runs) > _MOST_RUNS or _is_turned(runs):
        return [_line([run], number) for number, run in enumerate(runs)]
    lines: list[Line] = []
    for number, region in enumerate(_regions(runs, _MOST_CUTS)):
        lines += [_line(row, number) for row in _rows(region)]
    return lines


def _runs(words: Iterable[Word]) -> list[Run]:
    runs: list[Run] = []
    for word in words:
        run = Run([word.text], word.left, word.bottom, word.right, word.top, word.place, word.last, word.is_upright)
        if runs and _continues(runs[-1], run):
            last = runs[-1]
            last.words.append(word.text)
            last.last = word.last
            last.left, last.right = min(last.left, word.left), max(last.right, word.right)
            last.bottom, last.top = min(last.bottom, word.bottom), max(last.top, word.top)
        else:
            runs.append(run)
    return runs


def _continues(run: Run, word: Run) -> bool:
    across = min(run.right, word.right) - max(run.left, word.left)
    along = min(run.top, word.top) - max(run.bottom, word.bottom)
    if run.is_upright and (word.is_upright or len(word.words[0]) == 1):
        across, along, size = along, across, min(run.right - run.left, word.right - word.left)
    else:
        size = min(run.height, word.height)
    return size > 0 and along > 0.5 * size and -_RUN_GAP * size < across < size


def _is_turned(runs: Sequence[Run]) -> bool:
    """Whether much of the text is set upright or aslant, so that lines are not rows of the page."""
    turned = sum(len(run.words) for run in runs if run.is_upright)
    return turned > 0.3 * sum(len(run.words) for run in runs)


def _regions(runs: list[Run], cuts: int) -> list[list[Run]]:
    """The parts of a page in reading order: each is read row by row."""
    gutter = _gutter(runs)
    if gutter is not None:
        left, right = [run for run in runs if run.right <= gutter], [run for run in runs if run.right > gutter]
        return [*_regions(left, cuts - 1), *_regions(right, cuts - 1)]
    if cuts <= 0 or len(runs) < 2 * _COLUMN_LINES:
        return [runs]
    across = _widest_gap(sorted((-run.top, -run.bottom) for run in runs))
    if across is None:
        return [runs]
    upper, lower = [run for run in runs if run.bottom >= -across], [run for run in runs if run.bottom < -across]
    parts = [*_regions(upper, cuts - 1), *_regions(lower, cuts - 1)]
    # Without columns in one of its parts the region is one: rows of a table stay together.
    return parts if len(parts) > 2 else [runs]


def _gutter(runs: Sequence[Run]) -> float | None:
    """Where the white space between two columns of text is; None where there are none."""
    if len(runs) < 2 * _COLUMN_LINES:
        return None
    height = median(run.height for run in runs)
    for start, end in _gaps(sorted((run.left, run.right) for run in runs)):
        if end - start < _GUTTER * height:
            continue
        middle = (start + end) / 2
        left, right = [run for run in runs if run.right <= middle], [run for run in runs if run.right > middle]
        if _is_column(left) and _is_column(right) and _stand_beside(left, right):
            return middle
    return None


def _is_column(runs: Sequence[Run]) -> bool:
    if len(runs) < _COLUMN_LINES:
        return False
    width = max(run.right for run in runs) - min(run.left for run in runs)
    characters = sum(len(word) for run in runs for word in run.words)
    filled = sum(run.right - run.left for run in runs)
    return characters >= _COLUMN_CHARACTERS * len(runs) and filled >= _COLUMN_FILL * width * len(_rows(runs))


def _stand_beside(left: Sequence[Run], right: Sequence[Run]) -> bool:
    top = min(max(run.top for run in left), max(run.top for run in right))
    bottom = max(min(run.bottom for run in left), min(run.bottom for run in right))
    heights = (max(run.top for run in side) - min(run.bottom for run in side) for side in (left, right))
    return top - bottom > 0.5 * min(heights)


def _gaps(spans: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The spaces between spans, which come in order; widest first."""
    gaps = []
    end = spans[0][1]
    for low, high in spans[1:]:
        if low > end:
            gaps.append((end, low))
        end = max(end, high)
    return sorted(gaps, key=lambda gap: gap[0] - gap[1])


def _widest_gap(spans: Sequence[tuple[float, float]]) -> float | None:
    gaps = _gaps(spans)
    return None if not gaps else (gaps[0][0] + gaps[0][1]) / 2


def _rows(runs: Sequence[Run]) -> list[list[Run]]:
    """Runs that stand on one line, from top to bottom, each row in the direction in which it is read."""
    rows: list[list[Run]] = []
    for run in sorted(runs, key=lambda run: -(run.top + run.bottom)):
        row = rows[-1] if rows else []
        if row and min(row[0].top, run.top) - max(row[0].bottom, run.bottom) > 0.5 * min(row[0].height, run.height):
            row.append(run)
        else:
            rows.append([run])
    for row in rows:
        row.sort(key=lambda run: run.left, reverse=_is_right_to_left(row))
    return rows


def _is_right_to_left(row: Sequence[Run]) -> bool:
    letters = [character for run in row for word in run.words for character in word if character.isalpha()]
    return 2 * sum("\u0590" <= character <= "\u08ff" or "\ufb1d" <= character <= "\ufeff" for character in letters) > len(letters)


def _line(row: Sequence[Run], block: int) -> Line:
    return Line(
        "  ".join(" ".join(run.words) for run in row),
        min(run.left for run in row),
        min(run.bottom for run in row),
        max(run.right for run in row),
        max(run.top for run in row),
        row[0].place,
        row[-1].last,
        block,
    )
