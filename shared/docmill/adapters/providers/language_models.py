"""From what a model reference stands for to the chat or rerank model behind it; ``catalog`` does the same for embedding models."""

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from docmill.adapters.providers.access import Access
from docmill.adapters.providers.anthropic_chat import AnthropicChat
from docmill.adapters.providers.chat_api import ChatApi
from docmill.adapters.providers.credentials import credential
from docmill.adapters.providers.endpoints import bearer
from docmill.adapters.providers.gemini_chat import GeminiChat
from docmill.adapters.providers.http_chat import HttpChatModel
from docmill.adapters.providers.model_calls import ModelCalls
from docmill.adapters.providers.openai_chat import OpenAiChat
from docmill.adapters.providers.permits import PermitsOf, alone
from docmill.adapters.providers.places import base_url_of, permits_for
from docmill.adapters.providers.rerank_chat import ChatRerankModel
from docmill.adapters.providers.rerank_http import HttpRerankModel, place_of_endpoint
from docmill.config.headers import filled_in
from docmill.config.providers import Adapter, ModelSpec
from docmill.domain.errors import NotAvailable

CHAT_TIMEOUT_SECONDS: Final = 120.0
RERANK_TIMEOUT_SECONDS: Final = 30.0

#: Of these providers every rerank model has an endpoint of its own.
_RERANKING_PROVIDERS: Final = frozenset({"cohere", "dmr", "voyage"})
#: Of these the endpoint is where their other ones are; elsewhere the configuration must say.
_RERANKING_ADAPTERS: Final = (Adapter.COHERE, Adapter.VOYAGE, Adapter.OPENAI)
#: In the name of every rerank model, whoever serves it; in that of no chat model.
_RERANKING_NAME: Final = "rerank"
#: Where OpenAI's own models are; they think, and want to be told a limit that counts that.
_OPENAI_HOSTS: Final = ("openai.com", "openai.azure.com")


def chat_model_for(
    spec: ModelSpec, *, credentials: Mapping[str, str], timeout_seconds: float = CHAT_TIMEOUT_SECONDS, permits_of: PermitsOf = alone
) -> HttpChatModel:
    """The chat model that ``spec`` stands for; connects to nothing yet.

    Args:
        spec: as the configuration gives it.
        credentials: values by the name of the environment variable that holds them.
        timeout_seconds: of one call, from its start to the last byte of its answer, also of one that streams.
        permits_of: makes its permits; without, it shares what its provider bears with nobody.

    Raises:
        NotAvailable: nothing here can talk to the provider's chat models.
        ConfigurationError: its credential, or a variable that its headers need, is missing.
    """
    api, base_url = _chat_api(spec)
    access = _access(spec, base_url, credentials, timeout_seconds)
    calls = ModelCalls(spec.name, access, api.headers(access.api_key))
    permits = permits_for(spec, access, permits_of)
    return HttpChatModel(
        spec.name, spec.model, api=api, calls=calls, permits=permits, max_tokens=spec.max_tokens, temperature=spec.temperature
    )


def rerank_model_for(
    spec: ModelSpec, *, credentials: Mapping[str, str], timeout_seconds: float = RERANK_TIMEOUT_SECONDS, permits_of: PermitsOf = alone
) -> HttpRerankModel | ChatRerankModel:
    """The rerank model that ``spec`` stands for: one with a ``/rerank`` of its own, or else a chat model that is asked for scores.

    Arguments and errors as ``chat_model_for``.
    """
    if not _has_rerank_endpoint(spec):
        chat = chat_model_for(spec, credentials=credentials, timeout_seconds=timeout_seconds, permits_of=permits_of)
        return ChatRerankModel(chat, close=chat.close)
    base_url, path = place_of_endpoint(spec.provider, _rerank_base_url(spec))
    access = _access(spec, base_url, credentials, timeout_seconds)
    calls = ModelCalls(spec.name, access, bearer(access.api_key) if access.api_key else {})
    limit_key = "top_k" if spec.adapter is Adapter.VOYAGE else "top_n"
    return HttpRerankModel(
        spec.name, spec.model, calls=calls, permits=permits_for(spec, access, permits_of), path=path, limit_key=limit_key
    )


def _chat_api(spec: ModelSpec) -> tuple[ChatApi, str]:
    """What the model's provider speaks, and the base URL."""
    if spec.adapter is Adapter.OPENAI:
        base_url = base_url_of(spec)
        host = urlsplit(base_url).hostname or ""
        return OpenAiChat(counts_thinking=any(host == name or host.endswith(f".{name}") for name in _OPENAI_HOSTS)), base_url
    if spec.adapter is Adapter.GOOGLE:
        return GeminiChat(), base_url_of(spec)
    if spec.provider == "anthropic":
        return AnthropicChat(), base_url_of(spec).rstrip("/").removesuffix("/v1")
    raise NotAvailable(f"{spec.name}: chat models of {spec.provider} are not available; choose another model")


def _has_rerank_endpoint(spec: ModelSpec) -> bool:
    return spec.provider in _RERANKING_PROVIDERS or _RERANKING_NAME in spec.model.lower()


def _rerank_base_url(spec: ModelSpec) -> str:
    if spec.base_url is None and spec.adapter not in _RERANKING_ADAPTERS:
        raise NotAvailable(f"{spec.name}: rerank models of {spec.provider} are not available; choose another model")
    return base_url_of(spec)


def _access(spec: ModelSpec, base_url: str, environ: Mapping[str, str], timeout_seconds: float) -> Access:
    api_key = credential(spec.name, spec.token_key, environ)
    return Access(base_url, api_key, filled_in(spec.headers, environ, model=spec.name), timeout_seconds)
