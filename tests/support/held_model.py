"""A model in memory that answers when it is told to, and notes what it was asked."""

import threading
from collections.abc import Callable, Sequence

from docmill.adapters.memory.models import HashEmbeddingModel, hash_vector
from docmill.domain.chunks import Vector
from docmill.domain.errors import TextRefused

#: Longer than a test lasts.
FOR_EVER = 1000.0


class HeldModel(HashEmbeddingModel):
    """Refuses every text that begins with ``poison``.

    Attributes:
        requests: the texts of each.
        fails: called with the texts of a request that is answered; may raise.
        keeps_what_it_has: whether a refusal comes with the vectors that were made before.
    """

    def __init__(self, dimensions: int = 8) -> None:
        super().__init__(dimensions)
        self.requests: list[list[str]] = []
        self.fails: Callable[[Sequence[str]], None] = lambda texts: None
        self.keeps_what_it_has = True
        self._changed = threading.Condition()
        self._answers = FOR_EVER

    def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        with self._changed:
            self.requests.append(list(texts))
            number = len(self.requests)
            self._changed.wait_for(lambda: number <= self._answers, FOR_EVER)
        self.fails(texts)
        for place, text in enumerate(texts):
            if text.startswith("poison"):
                made = [hash_vector(one, self.dimensions) for one in texts[:place]]
                raise TextRefused(f"it refuses {text}", place, made if self.keeps_what_it_has else ())
        return super().embed_passages(texts)

    def answer(self, requests: float = FOR_EVER) -> None:
        """Answers the first ``requests`` and no others; all by default."""
        with self._changed:
            self._answers = requests
            self._changed.notify_all()

    def asked(self) -> list[str]:
        """Every text that was asked for, as often as it was."""
        return sorted(text for request in self.requests for text in request)
