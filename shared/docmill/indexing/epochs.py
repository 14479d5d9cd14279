"""Epochs: each new one is above every one that was used, also where the registry does not remember."""

from collections.abc import Sequence

from docmill.ports.stores import ChunkStore


def next_epoch(stores: Sequence[ChunkStore], known: int = 0) -> int:
    """An epoch above ``known`` and above every one that ``stores`` know.

    They know it before anything is minted in it: what is broken off here never uses one twice.

    Raises:
        StoreDown: a store does not answer.
    """
    epoch = max(known, *(store.epoch() for store in stores)) + 1
    for store in stores:
        store.raise_epoch(epoch)
    return epoch
