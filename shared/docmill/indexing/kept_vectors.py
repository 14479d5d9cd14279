"""Kept vectors: what a process was given last by providers, for attempts that end before it is stored."""

import hashlib
import threading
from array import array
from collections import OrderedDict
from collections.abc import Iterable
from typing import Final

from docmill.domain.chunks import Vector
from docmill.domain.knowledge_bases import EmbeddingModelSpec

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


def _size(vector: "array[float]") -> int:
    return len(vector) * vector.itemsize


def _key(spec: EmbeddingModelSpec, text: str) -> bytes:
    identity = (spec.name, spec.base_url, spec.dimensions, spec.passage_prefix, text)
    return hashlib.blake2b(repr(identity).encode(errors="surrogatepass"), digest_size=16).digest()
