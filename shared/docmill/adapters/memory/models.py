"""An embedding model that costs nothing: for tests and benchmarks of everything around one."""

import hashlib
import threading
from collections.abc import Sequence

import numpy as np

from docmill.adapters.providers.texts import well_formed
from docmill.domain.chunks import Vector
from docmill.ports.models import Caller


class HashEmbeddingModel:
    """Vectors of length 1 made from a hash of the text: equal texts have equal vectors, different ones hardly resemble each other.

    Attributes:
        calls: how many calls were made, of either method.
        texts: how many texts they had together.
    """

    def __init__(self, dimensions: int = 384, *, name: str = "memory/hash") -> None:
        """Vectors will be ``dimensions`` long."""
        self._dimensions = dimensions
        self._name = name
        self._lock = threading.Lock()
        self.calls = 0
        self.texts = 0

    @property
    def name(self) -> str:
        """See ``EmbeddingModel``."""
        return self._name

    @property
    def dimensions(self) -> int:
        """See ``EmbeddingModel``."""
        return self._dimensions

    def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        """See ``EmbeddingModel``."""
        self._count(len(texts))
        return [hash_vector(text, self._dimensions) for text in texts]

    def embed_query(self, text: str) -> Vector:
        """See ``EmbeddingModel``."""
        self._count(1)
        return hash_vector(text, self._dimensions)

    def on_behalf_of(self, caller: Caller) -> "HashEmbeddingModel":
        """See ``EmbeddingModel``."""
        return self

    def _count(self, texts: int) -> None:
        with self._lock:
            self.calls += 1
            self.texts += texts


def hash_vector(text: str, dimensions: int) -> Vector:
    """The vector of length 1 and of ``dimensions`` entries that belongs to ``text``."""
    digest = hashlib.shake_128(well_formed(text).encode()).digest(2 * dimensions)
    # Odd numbers, so that no vector is zero.
    entries = np.frombuffer(digest, "<i2").astype(np.float64) * 2 + 1
    vector: list[float] = (entries / np.linalg.norm(entries)).tolist()
    return vector
