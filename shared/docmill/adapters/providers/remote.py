"""Embedding models behind a provider's API: what is the same for all of them."""

import copy
from collections.abc import Sequence
from enum import Enum, auto
from itertools import accumulate
from typing import Final, Protocol

from docmill.adapters.providers.answered_vectors import mean_of_windows
from docmill.adapters.providers.cancellation import Cancellation
from docmill.adapters.providers.failures import RequestRefused
from docmill.adapters.providers.permits import NOBODY, Answered, Permits
from docmill.adapters.providers.text_limits import limits_of, requests_of, windows_of
from docmill.adapters.providers.texts import well_formed
from docmill.adapters.providers.token_estimates import likely_tokens
from docmill.domain.chunks import Vector
from docmill.domain.errors import ProviderError, RunBudgetSpent, TextRefused
from docmill.domain.knowledge_bases import EmbeddingModelSpec
from docmill.ports.models import Caller

#: What every embedding model takes.
_PLAIN_TEXT: Final = "text"


class Purpose(Enum):
    """What a vector is for; many models make different ones."""

    QUERY = auto()
    PASSAGE = auto()


class Endpoint(Protocol):
    """One provider's embeddings API; called from several threads at once."""

    def prepare(self) -> None:
        """Loads what the first request needs and takes a while, so that a request that has leave arrives soon; connects to nothing."""
        ...

    def vectors_of(self, texts: Sequence[str], purpose: Purpose, cancellation: Cancellation) -> Answered[list[Vector]]:
        """The checked vectors of ``texts``, in their order, by one request that is not repeated; ``cancellation`` ends it.

        Raises:
            RequestRefused: the provider refuses these texts, or one of them.
            CallCancelled: it was ended from here.
            ProviderError: anything else that went wrong.
        """
        ...

    def close(self) -> None:
        """Ends the connections, and the calls under way."""
        ...


class RemoteEmbeddingModel:
    """An embedding model behind HTTP. A call that fails is not repeated here; each one needs a permit, and reports what it came to.

    A text that may have more tokens than the model takes is cut into the fewest windows that surely fit, at white space where there is
    some; its vector is the mean of theirs, weighted by length. So nothing is cut off, also where a provider would do that in silence.
    """

    def __init__(self, spec: EmbeddingModelSpec, endpoint: Endpoint, permits: Permits, *, dimensions: int) -> None:
        """Connects to nothing yet.

        Args:
            spec: a request has at most ``batch_size`` texts, and fewer where the provider takes fewer.
            endpoint: makes the vectors.
            permits: of the model.
            dimensions: how long they are.
        """
        self._spec = spec
        self._endpoint = endpoint
        self._permits = permits
        self._caller = NOBODY
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
                self._take(flat[part.start : part.stop], vectors)
            except TextRefused as refused:
                place = text_of[refused.place]
                raise TextRefused(str(refused), place, _joined(windows[:place], vectors)) from refused
            except ProviderError as error:
                error.made = _joined(windows[: _whole(windows, len(vectors))], vectors)
                raise
        return _joined(windows, vectors)

    def embed_query(self, text: str) -> Vector:
        """See ``EmbeddingModel``."""
        windows = self._windows(text)
        sent = [self._spec.query_prefix + window for window in windows]
        vectors: list[Vector] = []
        for part in requests_of(sent, self._limits, most_texts=self._spec.batch_size):
            vectors += self._vectors_of(sent[part.start : part.stop], Purpose.QUERY)
        return _joined([windows], vectors)[0]

    def on_behalf_of(self, caller: Caller) -> "RemoteEmbeddingModel":
        """See ``EmbeddingModel``; with the same connections."""
        bound = copy.copy(self)
        bound._caller = caller
        return bound

    def close(self) -> None:
        """Ends the waiting for permits, the calls under way and the connections; every call raises ``CallCancelled`` from now on."""
        self._permits.stop()
        self._endpoint.close()

    def _vectors_of(self, texts: Sequence[str], purpose: Purpose, *, is_plain: bool = False) -> list[Vector]:
        self._endpoint.prepare()
        tokens = likely_tokens(*texts)
        return self._permits.call(
            self._caller, tokens, lambda cancellation: self._endpoint.vectors_of(texts, purpose, cancellation), is_plain=is_plain
        )

    def _windows(self, text: str) -> list[str]:
        """``text`` in pieces that the model takes together with a prefix."""
        limit = self._limits.text_tokens
        # The same for both prefixes, so that a query has the windows of the passage with the same words.
        longest = max(len(self._spec.query_prefix.encode()), len(self._spec.passage_prefix.encode()))
        room = None if limit is None else limit - longest
        return windows_of(well_formed(text), room)

    def _take(self, texts: Sequence[str], vectors: list[Vector]) -> None:
        """Adds the vectors of ``texts``, which come next, to ``vectors``; a refused request is halved until the refused text is alone.

        A provider also refuses in this way what is wrong with every request, a model that it does not have for example. So a plain text
        is tried before a text is blamed: where that is refused too, no text is the reason.
        """
        try:
            vectors += self._vectors_of(texts, Purpose.PASSAGE)
        except RequestRefused as refusal:
            if len(texts) == 1:
                self._vectors_of([_PLAIN_TEXT], Purpose.PASSAGE, is_plain=True)
                raise TextRefused(str(refusal), len(vectors)) from refusal
            self._take_halves(texts, vectors)
        except RunBudgetSpent:
            if len(texts) == 1:
                raise
            self._take_halves(texts, vectors)  # what is left may do for some of them

    def _take_halves(self, texts: Sequence[str], vectors: list[Vector]) -> None:
        half = len(texts) // 2
        self._take(texts[:half], vectors)
        self._take(texts[half:], vectors)


def _whole(windows: Sequence[Sequence[str]], made: int) -> int:
    """How many of the first texts have the vectors of all their windows, of which the first ``made`` were made."""
    return sum(end <= made for end in accumulate(map(len, windows)))


def _joined(windows: Sequence[Sequence[str]], vectors: Sequence[Vector]) -> list[Vector]:
    """One vector for each text, from those of its windows."""
    joined = []
    start = 0
    for of_text in windows:
        end = start + len(of_text)
        joined.append(mean_of_windows(vectors[start:end], [len(window) for window in of_text]))
        start = end
    return joined
