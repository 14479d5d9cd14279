"""Keeps the vectors of recent queries, so that a query that comes again costs no embedding."""

from collections import OrderedDict
from threading import Lock
from typing import Final

from docmill.domain.chunks import Vector
from docmill.ports.models import Caller, EmbeddingModel

DEFAULT_CAPACITY: Final = 512


class QueryVectors:
    """The vectors of the last ``capacity`` queries, over all models; safe for several threads."""

    def __init__(self, capacity: int = DEFAULT_CAPACITY) -> None:
        self._capacity = capacity
        self._vectors: OrderedDict[tuple[EmbeddingModel, str], Vector] = OrderedDict()
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._vectors)

    def holds(self, model: EmbeddingModel, query: str) -> bool:
        """Whether ``vector_of`` would answer at once."""
        return _key(model, query) in self._vectors

    def vector_of(self, model: EmbeddingModel, query: str, caller: Caller) -> Vector:
        """The vector of ``query``, which is kept for every caller; raises as ``EmbeddingModel.embed_query``, and then keeps nothing."""
        key = _key(model, query)
        with self._lock:
            known = self._vectors.get(key)
            if known is not None:
                self._vectors.move_to_end(key)
                return known
        vector = model.on_behalf_of(caller).embed_query(query)
        with self._lock:
            self._vectors[key] = vector
            self._vectors.move_to_end(key)
            while len(self._vectors) > self._capacity:
                self._vectors.popitem(last=False)
        return vector


def _key(model: EmbeddingModel, query: str) -> tuple[EmbeddingModel, str]:
    """The model itself, not its name: one name may stand for models behind different endpoints."""
    return model, query
