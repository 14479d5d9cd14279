"""Which of a text's blocks fit into a piece and stay whole, and which must be parted."""

from bisect import bisect_right
from collections.abc import Sequence

from docmill.domain.documents import WholeBlock


class Blocks:
    """The blocks of one stretch of a text, for pieces of one size; blocks inside one that fits do not count."""

    def __init__(self, blocks: Sequence[WholeBlock], size: int) -> None:
        """``blocks`` are in order, an outer one before those in it."""
        self._fitting: list[WholeBlock] = []
        self._parted: list[WholeBlock] = []
        for block in blocks:
            if block.end - block.start > size:
                self._parted.append(block)
            elif not self._fitting or block.start >= self._fitting[-1].end:
                self._fitting.append(block)
        self._fitting_starts = [block.start for block in self._fitting]
        self._parted_starts = [block.start for block in self._parted]

    def whole_around(self, place: int) -> WholeBlock | None:
        """The block that fits into a piece and that a cut at ``place`` would part."""
        return _around(self._fitting, self._fitting_starts, place)

    def parted_around(self, place: int) -> WholeBlock | None:
        """The innermost block that fits into no piece and that a cut at ``place`` parts."""
        return _around(self._parted, self._parted_starts, place)


def _around(blocks: list[WholeBlock], starts: list[int], place: int) -> WholeBlock | None:
    index = bisect_right(starts, place - 1) - 1
    return blocks[index] if index >= 0 and blocks[index].end > place else None
