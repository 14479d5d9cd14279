"""Chat and rerank models that are connected to a ``LanguageModelServer``."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace

from docmill.adapters.providers.http_chat import HttpChatModel
from docmill.adapters.providers.language_models import chat_model_for
from docmill.config.providers import PROVIDERS, ModelSpec
from support.language_model_server import LanguageModelServer

KEY = "sk-a-very-secret-key"
#: One of each API, with the path that its base URL has.
CHAT_PROVIDERS = {"openai": "/v1", "anthropic": "", "google": "/v1beta"}


def spec_of(server: LanguageModelServer, provider: str, model: str = "some-model") -> ModelSpec:
    """A model of ``provider`` at the server."""
    base_url = server.address + CHAT_PROVIDERS.get(provider, "/v1")
    return ModelSpec(f"{provider}/{model}", provider, model, PROVIDERS[provider].adapter, base_url=base_url, token_key="KEY")


@contextmanager
def chat_model_at(server: LanguageModelServer, provider: str, timeout_seconds: float = 20.0, **settings: object) -> Iterator[HttpChatModel]:
    """A chat model of ``provider`` at the server; ``settings`` are those of its ``ModelSpec``."""
    spec = replace(spec_of(server, provider), **settings)  # type: ignore[arg-type]
    with closing(chat_model_for(spec, credentials={"KEY": KEY}, timeout_seconds=timeout_seconds)) as model:
        yield model
