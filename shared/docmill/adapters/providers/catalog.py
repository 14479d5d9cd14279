"""From an embedding model's specification to the adapter that runs it; an adapter's libraries are imported when it is first wanted."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from docmill.adapters.providers.credentials import credential
from docmill.adapters.providers.permits import PermitsOf, alone
from docmill.config.headers import filled_in
from docmill.config.providers import LOCAL_MODELS, REMOTE_DIMENSIONS, Adapter, adapter_for, local_model
from docmill.domain.errors import ConfigurationError, NotAvailable
from docmill.domain.knowledge_bases import EmbeddingModelSpec
from docmill.ports.models import EmbeddingModel

if TYPE_CHECKING:
    from docmill.adapters.providers.remote import RemoteEmbeddingModel


def embedding_model_for(
    spec: EmbeddingModelSpec, *, threads: int, credentials: Mapping[str, str], permits_of: PermitsOf = alone
) -> EmbeddingModel:
    """The embedding model that ``spec`` describes.

    Args:
        spec: as the configuration gives it.
        threads: how many texts a local model embeds at once.
        credentials: values by the name of the environment variable that holds them.
        permits_of: makes the permits of a remote model; without, it shares what its provider bears with nobody.

    Raises:
        NotAvailable: nothing here can talk to the provider yet.
        ConfigurationError: the model is not known, its credential or its dimensions are missing, or a local model's files are.
    """
    adapter = adapter_for(spec)
    if adapter is None:
        raise NotAvailable(f"{spec.name}: embedding models of {spec.provider} are not available yet; choose another embedding_model")
    return local_model_for(spec, threads) if adapter is Adapter.LOCAL else _remote(spec, adapter, credentials, permits_of)


def local_model_for(spec: EmbeddingModelSpec, threads: int) -> EmbeddingModel:
    """The model of that name that runs inside docmill; raises ``ConfigurationError`` as ``embedding_model_for``."""
    known = local_model(spec.provider, spec.model)
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


def _remote(spec: EmbeddingModelSpec, adapter: Adapter, environ: Mapping[str, str], permits_of: PermitsOf) -> "RemoteEmbeddingModel":
    dimensions = spec.dimensions or REMOTE_DIMENSIONS.get(spec.name)
    if dimensions is None:
        raise ConfigurationError(f"{spec.name}: say how long its vectors are with vector_dimensions")
    api_key = credential(spec.name, spec.token_key, environ)
    headers = filled_in(spec.headers, environ, model=spec.name)
    from docmill.adapters.providers.embedding_models import remote_model

    return remote_model(spec, adapter, dimensions=dimensions, api_key=api_key, headers=headers, permits_of=permits_of)
