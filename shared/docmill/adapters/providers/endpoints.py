"""One provider's embeddings API, as far as it is its own: what is sent, and where the vectors stand in the answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from docmill.adapters.providers.access import Access
from docmill.adapters.providers.answered_vectors import checked
from docmill.adapters.providers.calls import Answer, CallFailed, CallLeft, Calls, JsonPoster
from docmill.adapters.providers.cancellation import Cancellation
from docmill.adapters.providers.failures import Failure, FailureKind, failure_of, provider_error
from docmill.adapters.providers.json_values import json_value
from docmill.adapters.providers.permits import Answered
from docmill.adapters.providers.remote import Purpose
from docmill.adapters.providers.usage import tokens_in
from docmill.domain.chunks import Vector
from docmill.domain.errors import CallCancelled, ProviderError, ProviderPermanent
from docmill.domain.knowledge_bases import EmbeddingModelSpec


class Dialect(Protocol):
    """The form of one API; pure."""

    @property
    def path(self) -> str:
        """Of the request, after the base URL."""
        ...

    def credentials(self, api_key: str) -> Mapping[str, str]:
        """The headers that carry the key."""
        ...

    def request(self, texts: Sequence[str], purpose: Purpose) -> Mapping[str, object]:
        """The JSON to send."""
        ...

    def embeddings(self, answer: object, *, count: int) -> Sequence[object]:
        """What stands where vectors should, one for each of ``count`` texts, in their order; raises ``ValueError`` where it does not."""
        ...

    def finished(self, vectors: list[Vector]) -> list[Vector]:
        """The checked vectors as they are used."""
        ...


@dataclass(frozen=True, slots=True)
class PlainDialect:
    """What most APIs have in common: the key as a bearer token, and vectors that are used as they come."""

    model: str
    dimensions: int

    def credentials(self, api_key: str) -> Mapping[str, str]:
        """See ``Dialect``."""
        return bearer(api_key)

    def finished(self, vectors: list[Vector]) -> list[Vector]:
        """See ``Dialect``."""
        return vectors


class JsonEndpoint:
    """Speaks a ``Dialect`` over HTTP; see ``Endpoint``."""

    def __init__(self, spec: EmbeddingModelSpec, dialect: Dialect, access: Access, *, dimensions: int) -> None:
        """Connects to nothing yet. ``dimensions`` is how long every vector must be."""
        self._dialect = dialect
        self._dimensions = dimensions
        self._url = access.base_url.rstrip("/") + dialect.path
        self._provider = f"{spec.name} at {access.address}"
        self._secrets = access.secrets
        credentials = dialect.credentials(access.api_key) if access.api_key else {}
        self._poster = JsonPoster(Calls(timeout_seconds=access.timeout_seconds), {**credentials, **(access.headers or {})})

    def prepare(self) -> None:
        """See ``Endpoint``."""
        self._poster.prepare()

    def vectors_of(self, texts: Sequence[str], purpose: Purpose, cancellation: Cancellation) -> Answered[list[Vector]]:
        """See ``Endpoint``."""
        try:
            answer = self._poster.post(self._url, self._dialect.request(texts, purpose), cancellation)
        except CallFailed as failed:
            raise without_answer(failed, provider=self._provider, secrets=self._secrets) from None
        value = value_of(answer, provider=self._provider, secrets=self._secrets)
        try:
            vectors = checked(self._dialect.embeddings(value, count=len(texts)), dimensions=self._dimensions)
            return Answered(self._dialect.finished(vectors), tokens_in(value))
        except ValueError as error:
            raise unusable(error, provider=self._provider) from error

    def close(self) -> None:
        """See ``Endpoint``."""
        self._poster.close()


def value_of(answer: Answer, *, provider: str, secrets: tuple[str, ...]) -> object:
    """The JSON value of ``answer``; raises what it failed by, if it did, and ``ProviderPermanent`` where it is not JSON."""
    value: object = None
    not_json: ValueError | None = None
    try:
        value = json_value(answer.body)
    except ValueError as error:
        not_json = error
    failure = failure_of(answer.status, answer.headers, answer.body, value, now=datetime.now(UTC))
    if failure is not None:
        # Without a cause, whose text may repeat the key.
        raise provider_error(failure, provider=provider, secrets=secrets) from None
    if not_json is not None:
        raise unusable(not_json, provider=provider) from None
    return value


def without_answer(failed: CallFailed, *, provider: str, secrets: tuple[str, ...]) -> ProviderError:
    """The error for a call that brought no answer."""
    if isinstance(failed, CallLeft):
        return CallCancelled(f"{provider} {failed}")
    return provider_error(Failure(FailureKind.TRANSIENT, str(failed)), provider=provider, secrets=secrets)


def unusable(why: object, *, provider: str) -> ProviderPermanent:
    """The error for an answer that is whole and yet of no use."""
    return ProviderPermanent(f"{provider} gave an answer that cannot be used: {why}")


def bearer(api_key: str) -> Mapping[str, str]:
    """The header of a bearer token (RFC 6750)."""
    return {"Authorization": f"Bearer {api_key}"}
