"""Stored counts: how many chunks of each generation an index holds, in 12 bytes for each generation."""

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable
from typing import Final

from docmill.domain.chunks import StoredGeneration
from docmill.indexing.batches import in_batches

_BATCH: Final = 500
#: What stands for a generation of which only a part is there.
IN_PART: Final = 0


class StoredCounts:
    """The generations of one index as they were scanned, to look them up by number."""

    def __init__(self, generations: Iterable[StoredGeneration], pause: Callable[[], None] = lambda: None) -> None:
        """Reads ``generations`` to the end; ``pause`` is called between batches."""
        numbers: array[int] = array("Q")
        counts: array[int] = array("I")
        for batch in in_batches(generations, _BATCH):
            numbers.extend(one.generation for one in batch)
            counts.extend(one.found_chunks if one.whole else IN_PART for one in batch)
            pause()
        order = sorted(range(len(numbers)), key=numbers.__getitem__)
        self._numbers = array("Q", (numbers[place] for place in order))
        self._counts = array("I", (counts[place] for place in order))

    def count(self, generation: int) -> int | None:
        """How many chunks it has; ``IN_PART`` when some of them are missing, None when none is there."""
        place = bisect_left(self._numbers, generation)
        if place == len(self._numbers) or self._numbers[place] != generation:
            return None
        return self._counts[place]

    @property
    def highest(self) -> int:
        """The highest generation; 0 when there is none."""
        return self._numbers[-1] if self._numbers else 0
