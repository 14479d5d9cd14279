"""Model providers: which there are, how each is reached, and what a model reference in the YAML stands for."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from docmill.domain.knowledge_bases import ChatModelSpec, EmbeddingModelSpec

AUTO: Final = "auto"
LOCAL: Final = "local"
DEFAULT_EMBEDDING_MODEL: Final = "local/all-minilm-l6-v2"


class Adapter(StrEnum):
    """What talks to a provider."""

    LOCAL = "local"
    OPENAI = "openai"
    GOOGLE = "google"
    COHERE = "cohere"
    VOYAGE = "voyage"
    OLLAMA = "ollama"


@dataclass(frozen=True, slots=True)
class Provider:
    """A place that serves models.

    Attributes:
        adapter: what talks to it; None where docmill has nothing that can.
        base_url: where it is; None where the adapter knows, or where the configuration must say (``needs_base_url``).
        token_key: the environment variable that holds the credential; None sends none.
        headers: more headers of every request; ``${NAME}`` in a value stands for an environment variable.
    """

    name: str
    adapter: Adapter | None
    base_url: str | None = None
    token_key: str | None = None
    needs_base_url: bool = False
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class LocalModel:
    """An embedding model that runs inside docmill.

    Attributes:
        threshold: the least cosine of a hit. These models' cosines are lower than those of OpenAI's models, for which 0.5 is made.
    """

    dimensions: int
    threshold: float


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens."""

    input: float = 0.0
    output: float = 0.0


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """What a model reference stands for.

    Attributes:
        reference: as the configuration writes it.
        adapter: what talks to its provider; None where docmill has nothing that can.
        max_concurrency: requests of one knowledge base at once, over all workers; None is learned.
        max_tokens: the longest answer that a chat model is asked for.
        headers: more headers of every request; ``${NAME}`` in a value stands for an environment variable.
        is_named_endpoint: its provider is one of the configuration's own ``providers:``.
    """

    reference: str
    provider: str
    model: str
    adapter: Adapter | None
    base_url: str | None = None
    token_key: str | None = None
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    price: Price | None = None
    max_concurrency: int | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    headers: tuple[tuple[str, str], ...] = ()
    is_named_endpoint: bool = False

    @property
    def name(self) -> str:
        """``provider/model``."""
        return f"{self.provider}/{self.model}"


_OPENAI_COMPATIBLE: Final = (
    Provider("openai", Adapter.OPENAI, None, "OPENAI_API_KEY"),
    Provider("azure", Adapter.OPENAI, None, "AZURE_API_KEY", needs_base_url=True),
    Provider("dmr", Adapter.OPENAI, "http://127.0.0.1:12434/engines/v1"),
    Provider("minimax", Adapter.OPENAI, "https://api.minimax.io/v1", "MINIMAX_API_KEY"),
    Provider("mistral", Adapter.OPENAI, "https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
    Provider("nebius", Adapter.OPENAI, "https://api.studio.nebius.com/v1", "NEBIUS_API_KEY"),
    Provider("ollama", Adapter.OPENAI, "http://127.0.0.1:11434/v1"),
    Provider("requesty", Adapter.OPENAI, "https://router.requesty.ai/v1", "REQUESTY_API_KEY"),
    Provider("xai", Adapter.OPENAI, "https://api.x.ai/v1", "XAI_API_KEY"),
)
_WITH_AN_API_OF_THEIR_OWN: Final = (
    Provider("google", Adapter.GOOGLE, None, "GOOGLE_API_KEY"),
    Provider("cohere", Adapter.COHERE, None, "COHERE_API_KEY"),
    Provider("voyage", Adapter.VOYAGE, None, "VOYAGE_API_KEY"),
)
_WITHOUT_ADAPTER: Final = (
    Provider("amazon-bedrock", None),
    Provider("anthropic", None, None, "ANTHROPIC_API_KEY"),
)
#: What makes embeddings where it is not what talks to the provider's chat models.
_EMBEDDING_ADAPTERS: Final[Mapping[str, Adapter]] = MappingProxyType({"ollama": Adapter.OLLAMA})

#: Every provider that needs no entry under ``providers:``.
PROVIDERS: Final[Mapping[str, Provider]] = MappingProxyType(
    {
        provider.name: provider
        for provider in (Provider(LOCAL, Adapter.LOCAL), *_OPENAI_COMPATIBLE, *_WITH_AN_API_OF_THEIR_OWN, *_WITHOUT_ADAPTER)
    }
)

#: The models of the ``local`` provider.
LOCAL_MODELS: Final[Mapping[str, LocalModel]] = MappingProxyType(
    {"all-minilm-l6-v2": LocalModel(dimensions=384, threshold=0.2), "wordllama-256": LocalModel(dimensions=256, threshold=0.15)}
)

#: Output sizes of well-known remote models, for configurations that do not give ``vector_dimensions``.
REMOTE_DIMENSIONS: Final[Mapping[str, int]] = MappingProxyType(
    {
        "cohere/embed-english-light-v3.0": 384,
        "cohere/embed-english-v3.0": 1024,
        "cohere/embed-multilingual-light-v3.0": 384,
        "cohere/embed-multilingual-v3.0": 1024,
        "cohere/embed-v4.0": 1536,
        "dmr/ai/embeddinggemma": 768,
        "google/gemini-embedding-001": 3072,
        "google/gemini-embedding-2": 3072,
        "mistral/codestral-embed": 1536,
        "mistral/mistral-embed": 1024,
        "openai/text-embedding-3-large": 3072,
        "openai/text-embedding-3-small": 1536,
        "openai/text-embedding-ada-002": 1536,
        "voyage/voyage-3-large": 1024,
        "voyage/voyage-3.5": 1024,
        "voyage/voyage-3.5-lite": 1024,
        "voyage/voyage-code-3": 1024,
    }
)

#: What ``embedding_model: auto`` stands for where a credential is set: the first of these.
AUTO_REMOTE_MODELS: Final = (
    "openai/text-embedding-3-small",
    "google/gemini-embedding-001",
    "mistral/mistral-embed",
    "voyage/voyage-3.5",
    "cohere/embed-v4.0",
)

#: What it stands for elsewhere, by ``vector_dimensions``; None is for a strategy that does not give them.
AUTO_MODELS: Final[Mapping[int | None, str]] = MappingProxyType(
    {None: DEFAULT_EMBEDDING_MODEL, 384: DEFAULT_EMBEDDING_MODEL, 768: "dmr/ai/embeddinggemma", 1536: "openai/text-embedding-3-small"}
)


def auto_model(dimensions: int | None, environ: Mapping[str, str]) -> str | None:
    """What ``auto`` stands for; None where there is no model of that length.

    Args:
        dimensions: ``vector_dimensions``; None where they are not given.
        environ: the environment variables; a provider's model is chosen when its credential is among them.
    """
    for model in AUTO_REMOTE_MODELS:
        token_key = PROVIDERS[model.partition("/")[0]].token_key
        if token_key and environ.get(token_key, "").strip() and dimensions in (None, REMOTE_DIMENSIONS[model]):
            return model
    return AUTO_MODELS.get(dimensions)


def local_model(provider: str, model: str) -> LocalModel | None:
    """The local model of that name; None for a remote one."""
    return LOCAL_MODELS.get(model) if provider == LOCAL else None


def adapter_for(spec: EmbeddingModelSpec) -> Adapter | None:
    """What talks to the provider of an embedding model; None where docmill has nothing that can.

    The configuration's own ``providers:`` are OpenAI-compatible, also one that takes the name of a built-in one.
    """
    if not spec.speaks_openai and spec.provider in _EMBEDDING_ADAPTERS:
        return _EMBEDDING_ADAPTERS[spec.provider]
    return _adapter_of(spec)


def chat_spec_of(model: ModelSpec, *, max_concurrency: int | None = None) -> ChatModelSpec:
    """A chat model as a strategy keeps it, which may call it so many times at once: without what its reference is called here."""
    return ChatModelSpec(
        provider=model.provider,
        model=model.model,
        base_url=model.base_url,
        token_key=model.token_key,
        max_concurrency=max_concurrency,
        max_tokens=model.max_tokens,
        temperature=model.temperature,
        headers=model.headers,
        speaks_openai=model.is_named_endpoint,
        requests_per_minute=model.requests_per_minute,
        tokens_per_minute=model.tokens_per_minute,
    )


def model_of_chat(spec: ChatModelSpec) -> ModelSpec:
    """What ``chat_spec_of`` was given, called ``provider/model`` and without its price."""
    return ModelSpec(
        reference=spec.name,
        provider=spec.provider,
        model=spec.model,
        adapter=_adapter_of(spec),
        base_url=spec.base_url,
        token_key=spec.token_key,
        requests_per_minute=spec.requests_per_minute,
        tokens_per_minute=spec.tokens_per_minute,
        max_concurrency=spec.max_concurrency,
        max_tokens=spec.max_tokens,
        temperature=spec.temperature,
        headers=spec.headers,
        is_named_endpoint=spec.speaks_openai,
    )


def has_chat_models(spec: ChatModelSpec) -> bool:
    """Whether docmill can talk to the chat models of ``spec``'s provider."""
    return spec.provider == "anthropic" or model_of_chat(spec).adapter in (Adapter.OPENAI, Adapter.GOOGLE)


def _adapter_of(spec: EmbeddingModelSpec | ChatModelSpec) -> Adapter | None:
    provider = PROVIDERS.get(spec.provider)
    return Adapter.OPENAI if provider is None or spec.speaks_openai else provider.adapter
