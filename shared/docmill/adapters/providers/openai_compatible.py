"""Embedding models of OpenAI, and of any server that speaks its embeddings API.

The API: https://platform.openai.com/docs/api-reference/embeddings/create.
"""

from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

from openai import OpenAI, OpenAIError, omit

from docmill.adapters.providers.openai_answers import vectors_of_answer
from docmill.adapters.providers.openai_errors import RequestRefused, provider_error_of
from docmill.adapters.providers.texts import well_formed
from docmill.domain.chunks import Vector
from docmill.domain.errors import ProviderPermanent, TextRefused
from docmill.domain.knowledge_bases import EmbeddingModelSpec

OPENAI_BASE_URL: Final = "https://api.openai.com/v1"

#: The models that can shorten their vectors; others refuse a request that has ``dimensions``.
_SHORTENING_MODELS: Final = "text-embedding-3-"
#: The client refuses to be made without a key; where there is none, the header that would carry it is left out.
_NO_KEY: Final = "none"
#: What every embedding model takes.
_PLAIN_TEXT: Final = "text"


class OpenAiEmbeddingModel:
    """An embedding model behind HTTP. A call that fails is not repeated here."""

    def __init__(self, spec: EmbeddingModelSpec, *, dimensions: int, api_key: str | None, timeout_seconds: float = 60.0) -> None:
        """Connects to nothing yet.

        Args:
            spec: ``base_url`` None means OpenAI's own; a request has at most ``batch_size`` texts.
            dimensions: how long the vectors are; asked for where the model can choose, checked in every answer.
            api_key: sent as the bearer token; None sends none.
            timeout_seconds: of one request.
        """
        self._spec = spec
        self._dimensions = dimensions
        self._api_key = api_key
        base_url = spec.base_url or OPENAI_BASE_URL
        self._provider = f"{spec.name} at {_address(base_url)}"
        self._client = OpenAI(api_key=api_key or _NO_KEY, base_url=base_url, max_retries=0, timeout=timeout_seconds)

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
        vectors: list[Vector] = []
        for start in range(0, len(texts), self._spec.batch_size):
            vectors += self._taken(texts[start : start + self._spec.batch_size], start)
        return vectors

    def embed_query(self, text: str) -> Vector:
        """See ``EmbeddingModel``."""
        return self._request([text])[0]

    def close(self) -> None:
        """Ends the connections."""
        self._client.close()

    def _taken(self, texts: Sequence[str], place: int) -> list[Vector]:
        """The vectors of ``texts``, the first of which stands at ``place``; a refused request is halved until the refused text is alone.

        A provider also refuses in this way what is wrong with every request, a model that it does not have for example. So a plain text
        is tried before a text is blamed: where that is refused too, no text is the reason.
        """
        try:
            return self._request(texts)
        except RequestRefused as refusal:
            if len(texts) == 1:
                self._request([_PLAIN_TEXT])
                raise TextRefused(str(refusal), place) from refusal
        half = len(texts) // 2
        return [*self._taken(texts[:half], place), *self._taken(texts[half:], place + half)]

    def _request(self, texts: Sequence[str]) -> list[Vector]:
        shortens = self._spec.model.startswith(_SHORTENING_MODELS)
        try:
            answer = self._client.embeddings.with_raw_response.create(
                model=self._spec.model,
                input=[well_formed(text) for text in texts],
                encoding_format="float",
                dimensions=self._dimensions if shortens else omit,
                extra_headers={} if self._api_key else {"Authorization": omit},
            )
        except OpenAIError as error:
            # Without its cause, whose text may repeat the key.
            raise provider_error_of(error, provider=self._provider, secret=self._api_key) from None
        try:
            return vectors_of_answer(answer.content, count=len(texts), dimensions=self._dimensions)
        except ValueError as error:
            raise ProviderPermanent(f"{self._provider} gave an answer that cannot be used: {error}") from error


def _address(url: str) -> str:
    """``url`` without the name and password that it may hold."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
