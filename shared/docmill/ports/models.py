"""Models: embedding, chat and reranking."""

from collections.abc import Sequence
from typing import Protocol

from docmill.domain.chunks import Vector


class EmbeddingModel(Protocol):
    """Makes vectors of texts.

    Both methods may be called from several threads at once.
    """

    @property
    def name(self) -> str:
        """``provider/model``."""
        ...

    @property
    def dimensions(self) -> int:
        """The length of every vector."""
        ...

    def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        """The vectors of ``texts``, in their order, each ``dimensions`` long and finite.

        A text longer than the model's window is never cut silently. Texts are never changed by their neighbours.

        Raises:
            ProviderRateLimited: the provider asks to be called later.
            ProviderTransient: it failed in a way that may pass.
            ProviderPermanent: it refuses, or what it returned cannot be used.
            TextRefused: it refuses one of ``texts`` and takes others.
        """
        ...

    def embed_query(self, text: str) -> Vector:
        """The vector to search with for ``text``; raises as ``embed_passages``."""
        ...


class ChatModel(Protocol):
    """Writes text."""

    @property
    def name(self) -> str:
        """``provider/model``."""
        ...

    def complete(self, prompt: str, *, max_tokens: int) -> str:
        """The model's answer to ``prompt``; raises as ``EmbeddingModel.embed_passages``."""
        ...


class RerankModel(Protocol):
    """Scores passages for a query."""

    @property
    def name(self) -> str:
        """``provider/model``."""
        ...

    def score(self, query: str, passages: Sequence[str], *, criteria: str | None) -> list[float | None]:
        """A score in 0..1 for each passage, in order; None for what the model left out. Raises as ``embed_passages``."""
        ...
