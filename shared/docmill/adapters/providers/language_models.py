"""From what a model reference stands for to the chat or rerank model behind it; ``catalog`` does the same for embedding models."""

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from docmill.adapters.providers import cohere, voyage
from docmill.adapters.providers.anthropic_chat import ANTHROPIC_BASE_URL, AnthropicChat
from docmill.adapters.providers.chat_api import ChatApi
from docmill.adapters.providers.credentials import credential
from docmill.adapters.providers.endpoints import Access, bearer
from docmill.adapters.providers.gemini_chat import GEMINI_BASE_URL, GeminiChat
from docmill.adapters.providers.http_chat import HttpChatModel
from docmill.adapters.providers.model_calls import ModelCalls
from docmill.adapters.providers.openai_chat import OPENAI_BASE_URL, OpenAiChat
from docmill.adapters.providers.rerank_chat import ChatRerankModel
from docmill.adapters.providers.rerank_http import HttpRerankModel, place_of_endpoint
from docmill.config.headers import filled_in
from docmill.config.providers import Adapter, ModelSpec
from docmill.domain.errors import NotAvailable

CHAT_TIMEOUT_SECONDS: Final = 120.0
RERANK_TIMEOUT_SECONDS: Final = 30.0

#: Of these providers every rerank model has an endpoint of its own.
_RERANKING_PROVIDERS: Final = frozenset({"cohere", "dmr", "voyage"})
#: In the name of every rerank model, whoever serves it; in that of no chat model.
_RERANKING_NAME: Final = "rerank"
#: Where OpenAI's own models are; they think, and want to be told a limit that counts that.
_OPENAI_HOSTS: Final = ("openai.com", "openai.azure.com")


def chat_model_for(spec: ModelSpec, *, credentials: Mapping[str, str], timeout_seconds: float = CHAT_TIMEOUT_SECONDS) -> HttpChatModel:
    """The chat model that ``spec`` stands for; connects to nothing yet.

    Args:
        spec: as the configuration gives it.
        credentials: values by the name of the environment variable that holds them.
        timeout_seconds: of one call, from its start to the last byte of its answer, also of one that streams.

    Raises:
        NotAvailable: nothing here can talk to the provider's chat models.
        ConfigurationError: its credential, or a variable that its headers need, is missing.
    """
    api, base_url = _chat_api(spec)
    access = _access(spec, base_url, credentials, timeout_seconds)
    calls = ModelCalls(spec.name, access, api.headers(access.api_key))
    return HttpChatModel(spec.name, spec.model, api=api, calls=calls, max_tokens=spec.max_tokens, temperature=spec.temperature)


def rerank_model_for(
    spec: ModelSpec, *, credentials: Mapping[str, str], timeout_seconds: float = RERANK_TIMEOUT_SECONDS
) -> HttpRerankModel | ChatRerankModel:
    """The rerank model that ``spec`` stands for: one with a ``/rerank`` of its own, or else a chat model that is asked for scores.

    Arguments and errors as ``chat_model_for``.
    """
    if not _has_rerank_endpoint(spec):
        chat = chat_model_for(spec, credentials=credentials, timeout_seconds=timeout_seconds)
        return ChatRerankModel(chat, close=chat.close)
    base_url, path = place_of_endpoint(spec.provider, spec.base_url or _rerank_base_url(spec))
    access = _access(spec, base_url, credentials, timeout_seconds)
    calls = ModelCalls(spec.name, access, bearer(access.api_key) if access.api_key else {})
    limit_key = "top_k" if spec.adapter is Adapter.VOYAGE else "top_n"
    return HttpRerankModel(spec.name, spec.model, calls=calls, path=path, limit_key=limit_key)


def _chat_api(spec: ModelSpec) -> tuple[ChatApi, str]:
    """What the model's provider speaks, and the base URL."""
    if spec.adapter is Adapter.OPENAI:
        base_url = spec.base_url or OPENAI_BASE_URL
        host = urlsplit(base_url).hostname or ""
        return OpenAiChat(counts_thinking=any(host == name or host.endswith(f".{name}") for name in _OPENAI_HOSTS)), base_url
    if spec.adapter is Adapter.GOOGLE:
        return GeminiChat(), spec.base_url or GEMINI_BASE_URL
    if spec.provider == "anthropic":
        return AnthropicChat(), (spec.base_url or ANTHROPIC_BASE_URL).rstrip("/").removesuffix("/v1")
    raise NotAvailable(f"{spec.name}: chat models of {spec.provider} are not available; choose another model")


def _has_rerank_endpoint(spec: ModelSpec) -> bool:
    return spec.provider in _RERANKING_PROVIDERS or _RERANKING_NAME in spec.model.lower()


def _rerank_base_url(spec: ModelSpec) -> str:
    known = {Adapter.COHERE: cohere.BASE_URL, Adapter.VOYAGE: voyage.BASE_URL, Adapter.OPENAI: OPENAI_BASE_URL}
    base_url = None if spec.adapter is None else known.get(spec.adapter)
    if base_url is None:
        raise NotAvailable(f"{spec.name}: rerank models of {spec.provider} are not available; choose another model")
    return base_url


def _access(spec: ModelSpec, base_url: str, environ: Mapping[str, str], timeout_seconds: float) -> Access:
    api_key = credential(spec.name, spec.token_key, environ)
    return Access(base_url, api_key, filled_in(spec.headers, environ, model=spec.name), timeout_seconds)
