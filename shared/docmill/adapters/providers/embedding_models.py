"""Which provider is spoken to how."""

from collections.abc import Mapping

from docmill.adapters.providers import cohere, gemini, ollama, voyage
from docmill.adapters.providers.access import Access
from docmill.adapters.providers.endpoints import Dialect, JsonEndpoint
from docmill.adapters.providers.openai_compatible import OpenAiEmbeddingModel
from docmill.adapters.providers.permits import PermitsOf, alone
from docmill.adapters.providers.places import base_url_of, permits_for
from docmill.adapters.providers.remote import RemoteEmbeddingModel
from docmill.config.providers import Adapter
from docmill.domain.knowledge_bases import EmbeddingModelSpec


def remote_model(
    spec: EmbeddingModelSpec,
    adapter: Adapter,
    *,
    dimensions: int,
    api_key: str | None,
    headers: Mapping[str, str],
    timeout_seconds: float = 60.0,
    permits_of: PermitsOf = alone,
) -> RemoteEmbeddingModel:
    """The remote embedding model that ``spec`` describes; connects to nothing yet.

    Args:
        spec: its ``base_url`` None means the provider's own.
        adapter: what talks to its provider.
        dimensions: how long its vectors are.
        api_key: None sends none.
        headers: more headers of every request.
        timeout_seconds: of one request, from its start to the last byte of its answer.
        permits_of: makes its permits.
    """
    if adapter is Adapter.OPENAI:
        return OpenAiEmbeddingModel(
            spec, dimensions=dimensions, api_key=api_key, headers=headers, timeout_seconds=timeout_seconds, permits_of=permits_of
        )
    dialect, base_url = _dialect(spec, adapter, dimensions)
    access = Access(base_url, api_key, headers, timeout_seconds)
    permits = permits_for(spec, access, permits_of)
    return RemoteEmbeddingModel(spec, JsonEndpoint(spec, dialect, access, dimensions=dimensions), permits, dimensions=dimensions)


def _dialect(spec: EmbeddingModelSpec, adapter: Adapter, dimensions: int) -> tuple[Dialect, str]:
    base_url = base_url_of(spec)
    match adapter:
        case Adapter.GOOGLE:
            return gemini.GeminiDialect(spec.model, dimensions), base_url
        case Adapter.COHERE:
            return cohere.CohereDialect(spec.model, dimensions), base_url
        case Adapter.VOYAGE:
            return voyage.VoyageDialect(spec.model, dimensions), base_url
        case Adapter.OLLAMA:
            return ollama.OllamaDialect(spec.model, dimensions), ollama.base_url_of(base_url)
        case _:
            raise ValueError(f"{adapter} has no API over HTTP")
