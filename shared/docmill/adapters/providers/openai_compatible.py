"""Embedding models of OpenAI, and of any server that speaks its embeddings API.

The API: https://platform.openai.com/docs/api-reference/embeddings/create.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from openai import APIConnectionError, APIStatusError, AsyncOpenAI, Omit, OpenAIError, omit

from docmill.adapters.providers.access import Access
from docmill.adapters.providers.answered_vectors import checked, field_of, indexed, unpacked
from docmill.adapters.providers.calls import Answer, CallFailed, Calls
from docmill.adapters.providers.cancellation import Cancellation
from docmill.adapters.providers.endpoints import unusable, value_of, without_answer
from docmill.adapters.providers.permits import Answered, PermitsOf, alone
from docmill.adapters.providers.places import base_url_of, permits_for
from docmill.adapters.providers.remote import Purpose, RemoteEmbeddingModel
from docmill.adapters.providers.usage import tokens_in
from docmill.domain.chunks import Vector
from docmill.domain.knowledge_bases import EmbeddingModelSpec

#: OpenAI's models. They can shorten their vectors, where others refuse a request that has ``dimensions``; and whoever serves them gives
#: vectors in base64, which OpenAI's package asks for by itself, and which is a quarter as long as numbers and read ten times as fast.
_OPENAIS_MODELS: Final = "text-embedding-3-"
#: Mistral's one such model, and what Mistral calls it.
_MISTRAL_SHORTENING_MODELS: Final = ("mistral", "codestral-embed")
#: The client refuses to be made without a key; where there is none, the header that would carry it is left out.
_NO_KEY: Final = "none"


class OpenAiEmbeddingModel(RemoteEmbeddingModel):
    """An embedding model behind OpenAI's API; see ``RemoteEmbeddingModel``."""

    def __init__(
        self,
        spec: EmbeddingModelSpec,
        *,
        dimensions: int,
        api_key: str | None,
        headers: Mapping[str, str] | None = None,
        timeout_seconds: float = 60.0,
        permits_of: PermitsOf = alone,
    ) -> None:
        """Connects to nothing yet.

        Args:
            spec: ``base_url`` None means OpenAI's own.
            dimensions: how long the vectors are; asked for where the model can choose, checked in every answer.
            api_key: sent as the bearer token; None sends none.
            headers: more headers of every request.
            timeout_seconds: of one request, from its start to the last byte of its answer.
            permits_of: makes its permits.
        """
        access = Access(base_url_of(spec), api_key, headers, timeout_seconds)
        permits = permits_for(spec, access, permits_of)
        super().__init__(spec, OpenAiEndpoint(spec, access, dimensions=dimensions), permits, dimensions=dimensions)


class OpenAiEndpoint:
    """OpenAI's embeddings API through its own package, whose retries are off; see ``Endpoint``."""

    def __init__(self, spec: EmbeddingModelSpec, access: Access, *, dimensions: int) -> None:
        """Connects to nothing yet. ``dimensions`` is how long every vector must be."""
        self._spec = spec
        self._access = access
        self._dimensions = dimensions
        self._is_openais = spec.model.startswith(_OPENAIS_MODELS)
        self._provider = f"{spec.name} at {access.address}"
        self._calls = Calls(timeout_seconds=access.timeout_seconds)
        self._client = AsyncOpenAI(
            api_key=access.api_key or _NO_KEY,
            base_url=access.base_url,
            max_retries=0,
            timeout=None,  # each call is bounded as a whole
            default_headers=dict(access.headers or {}),
        )

    def prepare(self) -> None:
        """See ``Endpoint``."""
        self._calls.prepare(lambda: self._client.embeddings.with_raw_response)

    def vectors_of(self, texts: Sequence[str], purpose: Purpose, cancellation: Cancellation) -> Answered[list[Vector]]:
        """See ``Endpoint``; what a vector is for is said by a prefix of the text, for models that read one."""
        try:
            answer = self._calls.wait_for(lambda: self._post(list(texts)), cancellation)
        except CallFailed as failed:
            raise without_answer(failed, provider=self._provider, secrets=self._access.secrets) from None
        value = value_of(answer, provider=self._provider, secrets=self._access.secrets)
        try:
            embeddings = indexed(field_of(value, "data"), count=len(texts))
            if self._is_openais:
                embeddings = unpacked(embeddings)
            return Answered(checked(embeddings, dimensions=self._dimensions), tokens_in(value))
        except ValueError as error:
            raise unusable(error, provider=self._provider) from error

    def close(self) -> None:
        """See ``Endpoint``."""
        self._calls.close(self._client.close)

    async def _post(self, texts: list[str]) -> Answer:
        try:
            response = await self._client.embeddings.with_raw_response.create(
                model=self._spec.model,
                input=texts,
                encoding_format="base64" if self._is_openais else "float",
                dimensions=self._dimensions if self._is_openais else omit,
                extra_body=self._extra_body(),
                extra_headers=self._extra_headers(),
            )
            return Answer(response.status_code, dict(response.headers), response.content)
        except APIStatusError as error:
            return Answer(error.status_code, dict(error.response.headers), error.response.content)
        except APIConnectionError as error:
            raise CallFailed(f"cannot be reached: {error.__cause__ or error}") from error
        except OpenAIError as error:
            raise CallFailed(f"cannot be used: {error}") from error

    def _extra_body(self) -> dict[str, object] | None:
        provider, model = _MISTRAL_SHORTENING_MODELS
        is_one = self._spec.provider == provider and self._spec.model.startswith(model)
        return {"output_dimension": self._dimensions} if is_one else None

    def _extra_headers(self) -> dict[str, str | Omit]:
        own = {name.lower() for name in self._access.headers or {}}
        return {} if self._access.api_key or "authorization" in own else {"Authorization": omit}
