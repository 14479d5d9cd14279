"""Generation numbers: the fencing tokens of attempts to write a document.

``generation = epoch * 2^33 + counter``, below 2^53 so that Lua's and JSON's doubles hold it exactly: a million epochs of eight
billion attempts. No clock is in it.
"""

from typing import Final

COUNTERS_PER_EPOCH: Final = 2**33


def make_generation(epoch: int, counter: int) -> int:
    """The number of the ``counter``-th attempt of ``epoch``."""
    return epoch * COUNTERS_PER_EPOCH + counter


def epoch_of(generation: int) -> int:
    """The epoch in which ``generation`` was minted."""
    return generation // COUNTERS_PER_EPOCH
