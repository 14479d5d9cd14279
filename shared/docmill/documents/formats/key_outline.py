"""Outlines of configuration and data: large entries are sections under their keys, small ones stay together."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Final, NamedTuple

from docmill.domain.documents import Heading, Outline, WholeBlock

#: A text of fewer characters has no sections.
_SMALL_TEXT: Final = 2000
#: An entry of fewer characters is one section, whatever is in it.
_SMALL_SECTION: Final = 2500
#: An entry of fewer characters is no section.
_SMALL_ENTRY: Final = 500
_DEEPEST: Final = 4
_MOST_HEADINGS: Final = 20_000
#: A longer block is in no chunk as a whole.
_LONGEST_BLOCK: Final = 8000
_MOST_BLOCKS: Final = 50_000
_LONGEST_KEY: Final = 200


class Entry(NamedTuple):
    """A key, or an item of a list, with what belongs to it.

    Attributes:
        key: what it is called, "" for what has no name.
        first: the number of its first line, from 0; comments above it belong to it.
        after: that of the line after its last one.
        depth: in how many others it stands.
        apart: it is a section however small it is.
    """

    key: str
    first: int
    after: int
    depth: int
    apart: bool = False


def key_outline(text: str, lines: Sequence[str], entries: Iterable[Entry], blocks: Iterable[tuple[int, int]] = ()) -> Outline:
    """The outline of a text.

    Args:
        entries: in order, an outer one before those in it.
        blocks: the first line of each block and the line after it.
    """
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    starts[-1] = min(starts[-1], len(text))
    return Outline(list(_headings(text, starts, entries)) if len(text) >= _SMALL_TEXT else [], _whole_blocks(starts, blocks))


def _headings(text: str, starts: Sequence[int], entries: Iterable[Entry]) -> Iterator[Heading]:
    path: list[tuple[int, int]] = []  # the depth of each open section, and the line after its last one
    parted = [True]  # by depth, whether entries there may be sections
    count, last = 0, -1
    for entry in entries:
        if entry.depth >= len(parted) or not parted[entry.depth]:
            continue
        if count >= _MOST_HEADINGS:
            return
        del parted[entry.depth + 1 :]
        start, size = starts[entry.first], starts[entry.after] - starts[entry.first]
        if start < last or (start == last and not (path and entry.depth > path[-1][0])):
            continue  # another one begins on the same line, and this one is not in it
        is_section = entry.apart or (entry.after - entry.first > 2 and size >= _SMALL_ENTRY)
        parted.append(is_section and size >= _SMALL_SECTION and entry.depth + 1 < _DEEPEST)
        if is_section:
            path = [section for section in path if section[0] < entry.depth] + [(entry.depth, entry.after)]
            yield Heading(entry.depth + 1, " ".join(entry.key.split())[:_LONGEST_KEY], start, starts[entry.first + 1])
            count, last = count + 1, start
        elif any(after <= entry.first for _, after in path):
            # A heading without a text: what stands below it is not under the keys above it any more.
            over = next(place for place, (_, after) in enumerate(path) if after <= entry.first)
            depth = path[over][0]
            path = [*path[:over], (depth, path[over - 1][1] if over else len(starts))]
            yield Heading(depth + 1, "", start, start)
            count, last = count + 1, start


def _whole_blocks(starts: Sequence[int], blocks: Iterable[tuple[int, int]]) -> list[WholeBlock]:
    found = []
    for first, after in blocks:
        if after - first > 1 and starts[after] - starts[first] <= _LONGEST_BLOCK:
            found.append(WholeBlock(starts[first], starts[after]))
            if len(found) >= _MOST_BLOCKS:
                break
    return sorted(found, key=lambda block: (block.start, -block.end))
