"""The reference page of the model providers, made from what docmill can talk to."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from docmill.adapters.providers.http_chat import HttpChatModel
from docmill.adapters.providers.language_models import chat_model_for, rerank_model_for
from docmill.adapters.providers.places import base_url_of
from docmill.adapters.providers.rerank_chat import ChatRerankModel
from docmill.adapters.providers.rerank_http import HttpRerankModel
from docmill.adapters.providers.text_limits import ModelLimits, limits_of
from docmill.config.providers import (
    AUTO_REMOTE_MODELS,
    DEFAULT_EMBEDDING_MODEL,
    LOCAL,
    LOCAL_MODELS,
    PROVIDERS,
    REMOTE_DIMENSIONS,
    Adapter,
    ModelSpec,
    Provider,
    adapter_for,
)
from docmill.domain.errors import NotAvailable
from docmill.domain.knowledge_bases import EmbeddingModelSpec

_EMBEDDING_APIS: Final[Mapping[Adapter, str]] = {
    Adapter.LOCAL: "inside docmill",
    Adapter.OPENAI: "OpenAI's `/embeddings`",
    Adapter.GOOGLE: "Gemini's `:batchEmbedContents`",
    Adapter.COHERE: "Cohere's `/v2/embed`",
    Adapter.VOYAGE: "Voyage's `/embeddings`",
    Adapter.OLLAMA: "Ollama's `/api/embed`",
}
_CHAT_APIS: Final[Mapping[Adapter | None, str]] = {
    Adapter.OPENAI: "OpenAI's `/chat/completions`",
    Adapter.GOOGLE: "Gemini's `:generateContent`",
    None: "Anthropic's `/v1/messages`",
}
_NO: Final = "no"
_ANYWHERE: Final = "http://provider.invalid/v1"


def provider_page(generated: str) -> str:
    """``providers.md``: every built-in provider and every model whose vectors' length is known; ``generated`` is said at its top."""
    lines = [
        "# Model providers",
        "",
        generated,
        "",
        "How a provider is named in the configuration is in [configuration.md](configuration.md#model-references), and how docmill",
        "behaves towards one that limits or refuses it in [providers](../providers.md). Any other OpenAI-compatible server is named under",
        "`providers:`, and then speaks as `openai` does.",
        "",
        "## Providers",
        "",
        "| provider | base URL | credential | embeddings | chat | reranking |",
        "| --- | --- | --- | --- | --- | --- |",
        *(_row(provider) for provider in PROVIDERS.values()),
        "",
        "The credential is the environment variable that holds it; `token_key` names another one. A `/rerank` by name is asked for",
        "models that have `rerank` in their name; elsewhere a chat model is asked for the scores.",
        "",
        "## Embedding models",
        "",
        "Of these the length of the vectors is known; for all others `vector_dimensions` says it. The limits are the provider's own, in",
        "tokens of one text, and in tokens and texts of one request; docmill keeps to them, and to `embedding_batch_size`. Where a number",
        "is missing none is known.",
        "",
        "| model | dimensions | tokens of a text | tokens of a request | texts of a request | `auto` |",
        "| --- | --- | --- | --- | --- | --- |",
        *_models(),
    ]
    return "\n".join(lines) + "\n"


def _row(provider: Provider) -> str:
    cells = (f"`{provider.name}`", _base_url(provider), f"`{provider.token_key}`" if provider.token_key else "")
    return f"| {' | '.join((*cells, _embeddings(provider), _chat(provider), _reranking(provider)))} |"


def _base_url(provider: Provider) -> str:
    if provider.name == LOCAL:
        return ""
    if provider.needs_base_url:
        return "needs `base_url`"
    return f"`{base_url_of(_spec(provider, 'x'))}`" if _embeddings(provider) != _NO or _chat(provider) != _NO else ""


def _embeddings(provider: Provider) -> str:
    adapter = adapter_for(EmbeddingModelSpec(provider.name, "x"))
    return _NO if adapter is None else _EMBEDDING_APIS[adapter]


def _chat(provider: Provider) -> str:
    return (
        _NO
        if _made(lambda: chat_model_for(_spec(provider, "x"), credentials=_credentials(provider))) is None
        else _CHAT_APIS[provider.adapter]
    )


def _reranking(provider: Provider) -> str:
    by_name, any_model = (
        _made(lambda model=model: rerank_model_for(_spec(provider, model), credentials=_credentials(provider)))  # type: ignore[misc]  # the loop's own
        for model in ("rerank", "x")
    )
    if isinstance(any_model, HttpRerankModel):
        return "`/rerank`"
    if isinstance(by_name, HttpRerankModel):
        return "`/rerank` by name"
    return _NO if any_model is None else "a chat model"


def _made(
    make: Callable[[], HttpChatModel | HttpRerankModel | ChatRerankModel],
) -> HttpChatModel | HttpRerankModel | ChatRerankModel | None:
    """The model that ``make`` makes, closed; None where there is none."""
    try:
        model = make()
    except NotAvailable:
        return None
    model.close()
    return model


def _spec(provider: Provider, model: str) -> ModelSpec:
    base_url = _ANYWHERE if provider.needs_base_url else provider.base_url
    return ModelSpec(f"{provider.name}/{model}", provider.name, model, provider.adapter, base_url=base_url, token_key=provider.token_key)


def _credentials(provider: Provider) -> Mapping[str, str]:
    return {} if provider.token_key is None else {provider.token_key: "none"}


def _models() -> Iterator[str]:
    for name, local in LOCAL_MODELS.items():
        reference = f"{LOCAL}/{name}"
        yield _model(reference, local.dimensions, ModelLimits(), "without a credential" if reference == DEFAULT_EMBEDDING_MODEL else "")
    for name, dimensions in REMOTE_DIMENSIONS.items():
        place = f"{AUTO_REMOTE_MODELS.index(name) + 1}." if name in AUTO_REMOTE_MODELS else ""
        yield _model(name, dimensions, limits_of(name), place)


def _model(name: str, dimensions: int, limits: ModelLimits, auto: str) -> str:
    numbers = (limits.text_tokens, limits.request_tokens, limits.request_texts)
    return f"| `{name}` | {dimensions} | {' | '.join('' if number is None else f'{number:,}' for number in numbers)} | {auto} |"
