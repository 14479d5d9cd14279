"""Which models share what a provider bears."""

import pytest

from docmill.adapters.providers.accounts import account_at
from docmill.adapters.providers.places import account_of
from docmill.config.providers import Adapter, ModelSpec
from docmill.domain.errors import ConfigurationError
from docmill.domain.knowledge_bases import EmbeddingModelSpec

KEYS = {"OPENAI_API_KEY": "sk-a-very-secret-key", "OTHER_KEY": "another"}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("https://llm.acme.example/v1", "https://llm.acme.example/v1/"),
        ("https://llm.acme.example/v1", "HTTPS://LLM.acme.example:443/v1"),
        ("http://127.0.0.1:80", "http://127.0.0.1"),
    ],
)
def test_a_place_is_the_same_however_it_is_written(first: str, second: str) -> None:
    assert account_at(first, "key", {}) == account_at(second, "key", {})


@pytest.mark.parametrize(
    ("base_url", "api_key", "headers"),
    [
        ("https://llm.acme.example/v2", "key", {}),
        ("https://llm.acme.example:8443/v1", "key", {}),
        ("http://llm.acme.example/v1", "key", {}),
        ("https://llm.acme.example/v1?tenant=b", "key", {}),
        ("https://llm.acme.example/v1", "another", {}),
        ("https://llm.acme.example/v1", None, {}),
        ("https://llm.acme.example/v1", "key", {"Authorization": "Basic c2VjcmV0"}),
    ],
)
def test_another_place_or_another_credential_is_another_account(base_url: str, api_key: str | None, headers: dict[str, str]) -> None:
    assert account_at(base_url, api_key, headers) != account_at("https://llm.acme.example/v1", "key", {})


def test_a_header_that_is_no_credential_makes_no_difference() -> None:
    assert account_at("https://a.example", "key", {"X-Team": "search"}) == account_at("https://a.example", "key", {})


def test_no_credential_can_be_read_from_an_account() -> None:
    account = account_at("https://a.example", "sk-a-very-secret-key", {"Authorization": "Bearer hidden"})
    assert "secret" not in repr(account) + account.key
    assert "hidden" not in repr(account) + account.key


def test_chat_and_embeddings_of_one_provider_share_an_account_also_where_only_one_of_them_says_its_place() -> None:
    embeddings = EmbeddingModelSpec("openai", "text-embedding-3-small", token_key="OPENAI_API_KEY")
    chat = ModelSpec("m", "openai", "gpt", Adapter.OPENAI, base_url="https://api.openai.com/v1/", token_key="OPENAI_API_KEY")
    assert account_of(embeddings, KEYS) == account_of(chat, KEYS)


def test_another_variable_with_another_key_is_another_account() -> None:
    first = EmbeddingModelSpec("openai", "text-embedding-3-small", token_key="OPENAI_API_KEY")
    second = EmbeddingModelSpec("openai", "text-embedding-3-small", token_key="OTHER_KEY")
    assert account_of(first, KEYS) != account_of(second, KEYS)
    assert account_of(first, KEYS) == account_of(second, {**KEYS, "OTHER_KEY": KEYS["OPENAI_API_KEY"]})


def test_a_local_model_is_called_with_no_account() -> None:
    assert account_of(EmbeddingModelSpec("local", "wordllama-256"), {}) is None


def test_a_missing_credential_is_told() -> None:
    with pytest.raises(ConfigurationError, match="OPENAI_API_KEY"):
        account_of(EmbeddingModelSpec("openai", "text-embedding-3-small", token_key="OPENAI_API_KEY"), {})
