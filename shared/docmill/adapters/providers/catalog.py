"""From an embedding model's specification to the adapter that runs it; an adapter's libraries are imported when it is first wanted."""

from collections.abc import Mapping

from docmill.config.providers import LOCAL_MODELS, REMOTE_DIMENSIONS, Adapter, adapter_for
from docmill.domain.errors import ConfigurationError, NotAvailable
from docmill.domain.knowledge_bases import EmbeddingModelSpec
from docmill.ports.models import EmbeddingModel


def embedding_model_for(spec: EmbeddingModelSpec, *, threads: int, credentials: Mapping[str, str]) -> EmbeddingModel:
    """The embedding model that ``spec`` describes.

    Args:
        spec: as the configuration gives it.
        threads: how many texts a local model embeds at once.
        credentials: values by the name of the environment variable that holds them.

    Raises:
        NotAvailable: nothing here can talk to the provider yet.
        ConfigurationError: the model is not known, its credential or its dimensions are missing, or a local model's files are.
    """
    match adapter_for(spec):
        case Adapter.LOCAL:
            return _local(spec, threads)
        case Adapter.OPENAI:
            return _openai(spec, credentials)
        case None:
            raise NotAvailable(f"{spec.name}: embedding models of {spec.provider} are not available yet; choose another embedding_model")


def _local(spec: EmbeddingModelSpec, threads: int) -> EmbeddingModel:
    known = LOCAL_MODELS.get(spec.model)
    if known is None:
        names = ", ".join(f"local/{name}" for name in sorted(LOCAL_MODELS))
        raise ConfigurationError(f"{spec.name}: there is no such local model; there are {names}")
    if spec.dimensions not in (None, known.dimensions):
        raise ConfigurationError(f"{spec.name}: vector_dimensions is {spec.dimensions}, and this model makes {known.dimensions}")
    if spec.model == "wordllama-256":
        from docmill.adapters.providers.wordllama import WordLlamaModel

        return WordLlamaModel()
    from docmill.adapters.providers.minilm import MiniLmModel

    return MiniLmModel(threads=threads)


def _openai(spec: EmbeddingModelSpec, credentials: Mapping[str, str]) -> EmbeddingModel:
    dimensions = spec.dimensions or REMOTE_DIMENSIONS.get(spec.name)
    if dimensions is None:
        raise ConfigurationError(f"{spec.name}: say how long its vectors are with vector_dimensions")
    api_key = _credential(spec, credentials)
    from docmill.adapters.providers.openai_compatible import OpenAiEmbeddingModel

    return OpenAiEmbeddingModel(spec, dimensions=dimensions, api_key=api_key)


def _credential(spec: EmbeddingModelSpec, credentials: Mapping[str, str]) -> str | None:
    if spec.token_key is None:
        return None
    value = credentials.get(spec.token_key, "").strip()
    if not value:
        raise ConfigurationError(f"{spec.name}: its credential is missing; set the environment variable {spec.token_key}")
    if not (value.isascii() and value.isprintable()):
        raise ConfigurationError(f"{spec.name}: the value of the environment variable {spec.token_key} cannot be a credential")
    return value
