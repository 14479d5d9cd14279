"""Models: embedding, chat and reranking."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from docmill.domain.chunks import Vector

#: A JSON Schema, of an object in which every property is required and no other is allowed: what every provider takes.
JsonSchema = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Caller:
    """For whom a model is called; a provider's gate shares its requests among knowledge bases, and counts for runs.

    Attributes:
        knowledge_base: whose documents or queries they are.
        run_id: the run that they serve; "" for a query or a live change.
        max_run_tokens: what the run may spend; None is unbounded.
        is_query: somebody waits for the answer.
    """

    knowledge_base: str
    run_id: str = ""
    max_run_tokens: int | None = None
    is_query: bool = False


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

    def on_behalf_of(self, caller: Caller) -> "EmbeddingModel":
        """The same model, called for ``caller``; itself where that makes no difference, as for a model that runs inside docmill."""
        ...


class TextStream(Protocol):
    """A text that is being written; iterating gives its pieces, none of them empty, and raises as ``ChatModel.complete`` does."""

    def __iter__(self) -> Iterator[str]:
        """Itself."""
        ...

    def __next__(self) -> str:
        """The next piece, when it is written."""
        ...

    def close(self) -> None:
        """Ends the writing, also at the provider. Any thread may call it; one that waits for a piece then has the end."""
        ...


class ChatModel(Protocol):
    """Writes text.

    All methods may be called from several threads at once.
    """

    @property
    def name(self) -> str:
        """``provider/model``."""
        ...

    def complete(self, prompt: str, *, max_tokens: int, system: str | None = None, schema: JsonSchema | None = None) -> str:
        """The model's answer to ``prompt``, never empty.

        Args:
            prompt: what the user says.
            max_tokens: where the answer is cut; some models count what they think, too.
            system: what the model is told to be and to do, apart from what the user says.
            schema: the answer is JSON of this form where the provider can hold the model to that; elsewhere the prompt alone asks for it.

        Raises:
            ProviderRateLimited: the provider asks to be called later.
            ProviderTransient: it failed in a way that may pass.
            ProviderPermanent: it refuses, or what it returned cannot be used.
            TextRefused: it refuses to answer this prompt, or writes nothing, and answers others.
        """
        ...

    def stream(self, prompt: str, *, max_tokens: int, system: str | None = None) -> TextStream:
        """The same answer while it is written; the request fails, if it does, while its pieces are awaited."""
        ...

    def on_behalf_of(self, caller: Caller) -> "ChatModel":
        """The same model, called for ``caller``."""
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

    def on_behalf_of(self, caller: Caller) -> "RerankModel":
        """The same model, called for ``caller``."""
        ...
