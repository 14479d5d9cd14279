"""Embedding models behind a provider's API: what is the same for all of them."""

from collections.abc import Sequence
from enum import Enum, auto
from typing import Final, Protocol

from docmill.adapters.providers.answered_vectors import mean_of_windows
from docmill.adapters.providers.failures import RequestRefused
from docmill.adapters.providers.text_limits import limits_of, requests_of, windows_of
from docmill.adapters.providers.texts import well_formed
from docmill.domain.chunks import Vector
from docmill.domain.errors import TextRefused
from docmill.domain.knowledge_bases import EmbeddingModelSpec

#: What every embedding model takes.
_PLAIN_TEXT: Final = "text"


class Purpose(Enum):
    """What a vector is for; many models make different ones."""

    QUERY = auto()
    PASSAGE = auto()


class Endpoint(Protocol):
    """One provider's embeddings API; called from several threads at once."""

    def vectors_of(self, texts: Sequence[str], purpose: Purpose) -> list[Vector]:
        """The checked vectors of ``texts``, in their order, by one request that is not repeated.

        Raises:
            RequestRefused: the provider refuses these texts, or one of them.
            ProviderError: anything else that went wrong.
        """
        ...

    def close(self) -> None:
        """Ends the connections, and the calls under way."""
        ...


class RemoteEmbeddingModel:
    """An embedding model behind HTTP. A call that fails is not repeated here.

    A text that may have more tokens than the model takes is cut into the fewest windows that surely fit, at white space where there is
    some; its vector is the mean of theirs, weighted by length. So nothing is cut off, also where a provider would do that in silence.
    """

    def __init__(self, spec: EmbeddingModelSpec, endpoint: Endpoint, *, dimensions: int) -> None:
        """Connects to nothing yet.

        Args:
            spec: a request has at most ``batch_size`` texts, and fewer where the provider takes fewer.
            endpoint: makes the vectors.
            dimensions: how long they are.
        """
        self._spec = spec
        self._endpoint = endpoint
        self._dimensions = dimensions
        self._limits = limits_of(spec.name)

    @property
    def name(self) -> str:
        """See ``EmbeddingModel``."""
        return self._spec.name

    @property
    def dimensions(self) -> int:
        """See ``EmbeddingModel``."""
        return self._dimensions

    def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        """See ``EmbeddingModel``; one request after the other."""
        windows = [self._windows(text) for text in texts]
        flat = [self._spec.passage_prefix + window for of_text in windows for window in of_text]
        text_of = [place for place, of_text in enumerate(windows) for _ in of_text]
        vectors: list[Vector] = []
        for part in requests_of(flat, self._limits, most_texts=self._spec.batch_size):
            try:
                vectors += self._taken(flat[part.start : part.stop], part.start)
            except TextRefused as refused:
                raise TextRefused(str(refused), text_of[refused.place]) from refused
        return _joined(windows, vectors)

    def embed_query(self, text: str) -> Vector:
        """See ``EmbeddingModel``."""
        windows = self._windows(text)
        sent = [self._spec.query_prefix + window for window in windows]
        vectors: list[Vector] = []
        for part in requests_of(sent, self._limits, most_texts=self._spec.batch_size):
            vectors += self._endpoint.vectors_of(sent[part.start : part.stop], Purpose.QUERY)
        return _joined([windows], vectors)[0]

    def close(self) -> None:
        """Ends the connections, and the calls under way."""
        self._endpoint.close()

    def _windows(self, text: str) -> list[str]:
        """``text`` in pieces that the model takes together with a prefix."""
        limit = self._limits.text_tokens
        # The same for both prefixes, so that a query has the windows of the passage with the same words.
        longest = max(len(self._spec.query_prefix.encode()), len(self._spec.passage_prefix.encode()))
        room = None if limit is None else limit - longest
        return windows_of(well_formed(text), room)

    def _taken(self, texts: Sequence[str], place: int) -> list[Vector]:
        """The vectors of ``texts``, the first of which stands at ``place``; a refused request is halved until the refused text is alone.

        A provider also refuses in this way what is wrong with every request, a model that it does not have for example. So a plain text
        is tried before a text is blamed: where that is refused too, no text is the reason.
        """
        try:
            return self._endpoint.vectors_of(texts, Purpose.PASSAGE)
        except RequestRefused as refusal:
            if len(texts) == 1:
                self._endpoint.vectors_of([_PLAIN_TEXT], Purpose.PASSAGE)
                raise TextRefused(str(refusal), place) from refusal
        half = len(texts) // 2
        return [*self._taken(texts[:half], place), *self._taken(texts[half:], place + half)]


def _joined(windows: Sequence[Sequence[str]], vectors: Sequence[Vector]) -> list[Vector]:
    """One vector for each text, from those of its windows."""
    joined = []
    start = 0
    for of_text in windows:
        end = start + len(of_text)
        joined.append(mean_of_windows(vectors[start:end], [len(window) for window in of_text]))
        start = end
    return joined
