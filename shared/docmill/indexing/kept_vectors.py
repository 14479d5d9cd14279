"""Kept vectors: what a process was given last by providers, for attempts that end before it is stored."""

import hashlib
import threading
from array import array
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import structlog

from docmill.domain.chunks import Vector
from docmill.domain.errors import StoreDown
from docmill.domain.knowledge_bases import EmbeddingModelSpec
from docmill.ports.ledger import RunLedger

_log = structlog.get_logger(__name__)
_MOST_BYTES: Final = 64 * 2**20


class KeptVectors:
    """The vectors that came last, in single precision as the stores have them; safe for several threads.

    A document of many requests that is interrupted between them, since its provider is to be left alone for example, has paid for the
    first ones, and its next attempt need not: however often it is interrupted, it gets on.
    """

    def __init__(self, most_bytes: int = _MOST_BYTES) -> None:
        """Keeps vectors of at most ``most_bytes`` together."""
        self._most_bytes = most_bytes
        self._bytes = 0
        self._vectors: OrderedDict[bytes, array[float]] = OrderedDict()
        self._lock = threading.Lock()

    def keep(self, spec: EmbeddingModelSpec, text: str, vector: Vector) -> None:
        """Keeps the vector of ``text`` by the model of ``spec``, in the place of those that came first when there are too many."""
        key, kept = _key(spec, text), array("f", vector)
        with self._lock:
            before = self._vectors.pop(key, None)
            self._bytes += _size(kept) - (0 if before is None else _size(before))
            self._vectors[key] = kept
            while self._bytes > self._most_bytes:
                _, forgotten = self._vectors.popitem(last=False)
                self._bytes -= _size(forgotten)

    def of(self, spec: EmbeddingModelSpec, texts: Iterable[str]) -> dict[str, Vector]:
        """Those of ``texts`` that are kept, each with its vector."""
        keys = {text: _key(spec, text) for text in texts}
        with self._lock:
            return {text: self._vectors[key].tolist() for text, key in keys.items() if key in self._vectors}


@dataclass(frozen=True, slots=True)
class PaidVectors:
    """What the model of ``spec`` has made of the texts of one document."""

    spec: EmbeddingModelSpec
    vectors: Mapping[str, Vector]


def taken_from(shelf: RunLedger | None, spec: EmbeddingModelSpec, texts: Sequence[str]) -> dict[str, Vector]:
    """What attempts in other processes have left there of ``texts``; raises ``StoreDown``."""
    if shelf is None:
        return {}
    text_of = {_key(spec, text).hex(): text for text in texts}
    return {text_of[key]: vector for key, vector in shelf.take_vectors(list(text_of)).items()}


def leave_on(shelf: RunLedger | None, spec: EmbeddingModelSpec, vectors: Mapping[str, Vector]) -> None:
    """Leaves there, by their texts, what an attempt was given and cannot use; where the registry is out, this process alone has it."""
    if shelf is None or not vectors:
        return
    try:
        shelf.keep_vectors({_key(spec, text).hex(): vector for text, vector in vectors.items()})
    except StoreDown as error:
        _log.debug("vectors_not_left", count=len(vectors), error=str(error))


def leave_all_on(shelf: RunLedger, paid: Iterable[PaidVectors]) -> None:
    """``leave_on`` for every model of a document that cannot be stored now."""
    for one in paid:
        leave_on(shelf, one.spec, one.vectors)


def _size(vector: "array[float]") -> int:
    return len(vector) * vector.itemsize


def _key(spec: EmbeddingModelSpec, text: str) -> bytes:
    key = _hash_of(spec).copy()
    key.update(text.encode(errors="surrogatepass"))
    return key.digest()


@lru_cache(maxsize=64)
def _hash_of(spec: EmbeddingModelSpec) -> "hashlib.blake2b":
    """Of everything but the text; never to be changed."""
    identity = (spec.name, spec.base_url, spec.dimensions, spec.passage_prefix)
    return hashlib.blake2b(f"{identity!r}\n".encode(errors="surrogatepass"), digest_size=16)
