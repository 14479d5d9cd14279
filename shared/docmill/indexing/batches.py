"""Batches: what passes over many documents are made of: pieces of a stream, and keys in order to look one up among."""

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from itertools import islice
from typing import Final, TypeVar

T = TypeVar("T")

#: Documents that are planned at once beside a pass: the others are left to a pass, which keeps to the producer's window.
PLANNED_AT_ONCE: Final = 1_000


def in_batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """``items`` in pieces of at most ``size``, in order; a piece is taken when it is asked for."""
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch


def contains(ordered: "array[int]", key: int) -> bool:
    """Whether ``key`` is one of ``ordered``, which must be in ascending order."""
    place = bisect_left(ordered, key)
    return place < len(ordered) and ordered[place] == key


def document_key(document_id: str) -> int:
    """8 bytes for a document: a collision, once in 2^64 pairs, only delays a removal until the file is touched."""
    return int.from_bytes(blake2b(document_id.encode(), digest_size=8).digest(), "big")
