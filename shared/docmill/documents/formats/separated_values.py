"""CSV and TSV: the text as it is, as one table whose header row is repeated; of wide rows each value on a line with its column's name."""

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import accumulate, islice
from typing import Final

from docmill.documents.extracted import Extracted
from docmill.documents.formats.drafts import Draft
from docmill.documents.formats.shortening import shortened
from docmill.domain.documents import Outline, WholeBlock

_SAMPLE_CHARACTERS: Final = 65_536
_SAMPLE_ROWS: Final = 20
_DELIMITERS: Final = ",;\t|"
_NUMBER: Final = re.compile(r"[-+]?[\d.,:/\s%$€£-]*\d[\d.,:/\s%$€£TZ-]*\Z")
_YEAR: Final = re.compile(r"(?:19|20)\d\d(?:[-/](?:0?[1-9]|1[0-2]|\d\d))?\Z")
#: A header row of more columns, or more characters, tells nothing any more when it is repeated.
_MOST_COLUMNS: Final = 30
_LONGEST_HEADER: Final = 500
#: What is longer names no column: a quote in it was never closed where it should have been.
_LONGEST_NAME: Final = 300
#: A value of more lines has lost its closing quote.
_MOST_LINES_OF_ROW: Final = 1000
_MOST_BLOCKS: Final = 20_000
_LARGEST_GROWTH: Final = 4
_LEAST_GROWTH_CHARACTERS: Final = 2_000_000
_PREAMBLE: Final = re.compile(r"(?:sep=.)?\n|#.*\n", re.IGNORECASE)


def read_csv(text: str) -> Extracted:
    """The table in which values are separated by what separates them most regularly."""
    return _read(text, None)


def read_tsv(text: str) -> Extracted:
    """The table in which values are separated by tabs."""
    return _read(text, "\t")


def _read(text: str, delimiter: str | None) -> Extracted:
    text = shortened(text)
    start = _after_preamble(text)
    sample = text[start : start + _SAMPLE_CHARACTERS]
    delimiter = delimiter or _delimiter_of(sample)
    rows = _rows(sample, delimiter)
    header, header_lines = next(rows, ([], 0))
    if len(header) < 2:
        return Extracted(text)
    following = [row for row, _ in islice(rows, _SAMPLE_ROWS)]
    header_end = start + _line_start(sample, header_lines)
    if not _is_header(header, following):
        return Extracted(text, Outline((), (WholeBlock(start, len(text)), *_long_rows(text, start, delimiter))))
    if header_end == len(text):
        return Extracted(text)
    if len(header) > _MOST_COLUMNS or header_end - start > _LONGEST_HEADER:
        records = _records(text, start, delimiter, header)
        if records is not None:
            return records
    return Extracted(text, Outline((), (WholeBlock(start, len(text), header_end), *_long_rows(text, start, delimiter))))


def _after_preamble(text: str) -> int:
    """After what may stand before the table: ``sep=;``, comments, empty lines."""
    start = 0
    while (line := _PREAMBLE.match(text, start)) is not None:
        start = line.end()
    return start


def _delimiter_of(sample: str) -> str:
    lines = sample.split("\n")[:_SAMPLE_ROWS]
    counts = {delimiter: Counter(line.count(delimiter) for line in lines if line.strip()) for delimiter in _DELIMITERS}

    def regularity(delimiter: str) -> tuple[int, int]:
        number, lines_with_it = max(counts[delimiter].items(), key=lambda item: (item[0] > 0) * item[1], default=(0, 0))
        return (lines_with_it if number else 0, number)

    return max(_DELIMITERS, key=regularity)


def _rows(text: str, delimiter: str) -> Iterator[tuple[list[str], int]]:
    """Each row with the number of its last line, from 1; ends where the text cannot be read as a table, with a row of no line."""
    # ``split`` and not ``splitlines``: only ``\n`` ends a line of a file.
    reader = csv.reader((f"{line}\n" for line in text.split("\n")), delimiter=delimiter, skipinitialspace=True)
    step = partial(next, reader, None)
    while True:
        try:
            row = step()
        except csv.Error:
            yield [], 0
            return
        if row is None:
            return
        if row:
            yield row, reader.line_num


def _line_start(text: str, line: int) -> int:
    place = 0
    for _ in range(line):
        place = text.find("\n", place) + 1
        if place == 0:
            return len(text)
    return place


def _is_header(header: Sequence[str], following: Sequence[Sequence[str]]) -> bool:
    """Whether the first row names the columns: words, no two alike, and not what stands below."""
    names = [name.strip() for name in header]
    filled = [name for name in names if name]
    if any(len(name) > _LONGEST_NAME for name in filled):
        return False
    if len(filled) < 0.5 * len(names) or not filled or _NUMBER.match(filled[0]):
        return False
    if any(_NUMBER.match(name) and not _YEAR.match(name) for name in filled) or len(set(filled)) < 0.8 * len(filled):
        return False
    return not any(list(row) == list(header) for row in following)


def _long_rows(text: str, start: int, delimiter: str) -> list[WholeBlock]:
    """The rows that take several lines."""
    if '"' not in text:
        return []
    lines = text[start:].split("\n")
    starts = list(accumulate((len(line) + 1 for line in lines), initial=start))
    found: list[WholeBlock] = []
    last = 0
    for row, line in _rows(text[start:], delimiter):
        first, last = last, line
        while first < last and not lines[first].strip():
            first += 1
        if not row or last - first > _MOST_LINES_OF_ROW or len(found) >= _MOST_BLOCKS:
            break
        if last - first > 1:
            found.append(WholeBlock(starts[first], min(starts[last], len(text))))
    return found


def _records(text: str, start: int, delimiter: str, header: Sequence[str]) -> Extracted | None:
    """Each row as lines ``column: value``; None where that becomes too long."""
    names = [" ".join(name.split()) for name in header]
    longest = max(_LARGEST_GROWTH * len(text), len(text) + _LEAST_GROWTH_CHARACTERS)
    draft = Draft()
    before = text.count("\n", 0, start)
    characters = 0
    last = 0
    for number, (row, line) in enumerate(_rows(text[start:], delimiter)):
        first, last = last + 1, line
        if not row or last - first > _MOST_LINES_OF_ROW:
            return None
        if number == 0:
            continue
        draft.separate()
        begin = draft.length
        for column, value in enumerate(row):
            words = " ".join(value.split())
            if words:
                name = names[column] if column < len(names) else ""
                shown = f"{name}: {words}" if name else words
                characters += len(shown) + 1
                draft.add(shown, before + first)
        if characters > longest:
            return None
        draft.note_block(begin)
    return draft.extracted() if draft.length else None
