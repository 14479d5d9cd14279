"""Which chat or rerank model a reference leads to, and where it is called."""

import subprocess
import sys
from contextlib import closing

import pytest

from docmill.adapters.providers.http_chat import HttpChatModel
from docmill.adapters.providers.language_models import chat_model_for, rerank_model_for
from docmill.adapters.providers.rerank_chat import ChatRerankModel
from docmill.adapters.providers.rerank_http import HttpRerankModel, place_of_endpoint
from docmill.config.providers import PROVIDERS, Adapter, ModelSpec
from docmill.domain.errors import ConfigurationError, NotAvailable


def spec(reference: str, **settings: object) -> ModelSpec:
    provider, _, model = reference.partition("/")
    known = PROVIDERS.get(provider)
    adapter = Adapter.OPENAI if known is None else known.adapter
    return ModelSpec(reference, provider, model, adapter, **settings)  # type: ignore[arg-type]


@pytest.mark.parametrize("provider", ["openai", "anthropic", "google", "dmr", "mistral", "ollama", "xai", "one-of-the-file"])
def test_every_provider_of_chat_models_has_one(provider: str) -> None:
    with closing(chat_model_for(spec(f"{provider}/m", base_url="http://127.0.0.1:9/v1"), credentials={})) as model:
        assert isinstance(model, HttpChatModel)
        assert model.name == f"{provider}/m"


@pytest.mark.parametrize("provider", ["amazon-bedrock", "local", "voyage", "cohere"])
def test_a_provider_whose_chat_models_cannot_be_had_is_named(provider: str) -> None:
    with pytest.raises(NotAvailable, match=f"{provider}/m: chat models of {provider} are not available"):
        chat_model_for(spec(f"{provider}/m"), credentials={})


@pytest.mark.parametrize(
    ("reference", "kind"),
    [
        ("cohere/rerank-v3.5", HttpRerankModel),
        ("voyage/rerank-2.5", HttpRerankModel),
        ("dmr/ai/some-model", HttpRerankModel),
        ("my-vllm/BAAI/bge-reranker-v2-m3", HttpRerankModel),
        ("my-jina/jina-reranker-v3", HttpRerankModel),
        ("openai/gpt-4o-mini", ChatRerankModel),
        ("anthropic/claude", ChatRerankModel),
        ("google/gemini", ChatRerankModel),
        ("ollama/llama", ChatRerankModel),
    ],
)
def test_what_has_a_rerank_endpoint_is_asked_there_and_all_else_is_chatted_with(reference: str, kind: type[object]) -> None:
    with closing(rerank_model_for(spec(reference), credentials={})) as model:
        assert isinstance(model, kind)
        assert model.name == reference


@pytest.mark.parametrize("reference", ["google/some-reranker", "anthropic/some-reranker", "amazon-bedrock/cohere.rerank-v3-5"])
def test_a_provider_whose_rerank_models_cannot_be_had_is_named(reference: str) -> None:
    with pytest.raises(NotAvailable, match=r"rerank models of .* are not available"):
        rerank_model_for(spec(reference), credentials={})


@pytest.mark.parametrize(
    ("provider", "base_url", "place"),
    [
        ("dmr", "http://127.0.0.1:12434/engines/v1", ("http://127.0.0.1:12434", "/rerank")),
        ("dmr", "http://127.0.0.1:12434/engines/llama.cpp/v1/", ("http://127.0.0.1:12434/engines/llama.cpp", "/rerank")),
        ("dmr", "http://127.0.0.1:12434", ("http://127.0.0.1:12434", "/rerank")),
        ("dmr", "http://127.0.0.1:12434/v1", ("http://127.0.0.1:12434", "/rerank")),
        ("cohere", "https://api.cohere.com", ("https://api.cohere.com", "/v2/rerank")),
        ("cohere", "https://proxy.example/cohere/v2/", ("https://proxy.example/cohere", "/v2/rerank")),
        ("jina", "https://api.jina.ai/v1", ("https://api.jina.ai/v1", "/rerank")),
        ("my-vllm", "http://vllm:8000/v1/", ("http://vllm:8000/v1", "/rerank")),
    ],
)
def test_the_rerank_endpoint_is_found_from_the_base_url(provider: str, base_url: str, place: tuple[str, str]) -> None:
    assert place_of_endpoint(provider, base_url) == place


@pytest.mark.parametrize("credentials", [{}, {"MY_KEY": ""}, {"MY_KEY": "a\nb"}])
@pytest.mark.parametrize("reference", ["openai/m", "anthropic/m", "google/m", "cohere/rerank"])
def test_a_missing_credential_is_named_by_its_environment_variable(reference: str, credentials: dict[str, str]) -> None:
    make = rerank_model_for if "rerank" in reference else chat_model_for
    with pytest.raises(ConfigurationError, match="environment variable MY_KEY"):
        make(spec(reference, token_key="MY_KEY"), credentials=credentials)


def test_a_variable_that_a_header_needs_is_named() -> None:
    with pytest.raises(ConfigurationError, match="environment variable TENANT"):
        chat_model_for(spec("openai/m", headers=(("x-tenant", "${TENANT}"),)), credentials={})


def test_nothing_is_started_before_the_first_call() -> None:
    code = (
        "import threading\n"
        "from docmill.adapters.providers.language_models import chat_model_for\n"
        "from docmill.config.providers import Adapter, ModelSpec\n"
        "model = chat_model_for(ModelSpec('a/b', 'a', 'b', Adapter.OPENAI), credentials={})\n"
        "print(threading.active_count())\n"
        "model.close()"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "1"
