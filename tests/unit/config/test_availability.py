from pathlib import Path

import pytest

from docmill.config import require_available, unavailable_parts
from docmill.domain.errors import NotAvailable
from support.configuration_files import knowledge_base, load


def parts(folder: Path, text: str) -> list[tuple[str, bool]]:
    """The parts that are missing, each with whether it keeps its knowledge base from being used."""
    configuration = load(folder, text)
    refused = ""
    for kb in configuration.knowledge_bases:
        try:
            require_available(kb)
        except NotAvailable as error:
            refused += str(error)
    return [(str(part).split(": ")[0], str(part) in refused) for part in unavailable_parts(configuration)]


@pytest.mark.parametrize("model", ["openai/x", "dmr/x", "ollama/x", "mistral/x", "nebius/x", "xai/x", "requesty/x", "minimax/x", "acme/x"])
def test_openai_compatible_providers_are_available(tmp_path: Path, model: str) -> None:
    entries = 'providers: {acme: {base_url: "http://127.0.0.1:1/v1"}}\n'
    text = knowledge_base(f"{{type: chunked-embeddings, embedding_model: {model}, vector_dimensions: 8}}", entries)
    assert parts(tmp_path, text) == []


@pytest.mark.parametrize("model", ["google/gemini-embedding-001", "cohere/embed-v4.0", "voyage/voyage-3.5"])
def test_providers_with_an_api_of_their_own_are_available(tmp_path: Path, model: str) -> None:
    assert parts(tmp_path, knowledge_base(f"{{type: chunked-embeddings, embedding_model: {model}, vector_dimensions: 8}}")) == []


@pytest.mark.parametrize("model", ["amazon-bedrock/titan", "anthropic/x"])
def test_a_provider_without_an_adapter_cannot_index(tmp_path: Path, model: str) -> None:
    text = knowledge_base(f"{{type: chunked-embeddings, embedding_model: {model}, vector_dimensions: 8}}")
    assert parts(tmp_path, text) == [("rag.notes.strategies[0].embedding_model", True)]


def test_reranking_and_answers_are_available(tmp_path: Path) -> None:
    text = knowledge_base(extra="    results: {reranking: {model: openai/x}}\n    answer: {model: openai/x}\n")
    assert parts(tmp_path, text) == []


@pytest.mark.parametrize("model", ["openai/x", "anthropic/x", "google/x", "acme/x", "dmr/x"])
def test_a_semantic_strategy_is_available(tmp_path: Path, model: str) -> None:
    entries = 'providers: {acme: {base_url: "http://127.0.0.1:1/v1"}}\n'
    strategy = f"{{type: semantic-embeddings, embedding_model: local/wordllama-256, chat_model: {model}}}"
    assert parts(tmp_path, knowledge_base(strategy, entries)) == []


@pytest.mark.parametrize("model", ["amazon-bedrock/x", "cohere/x", "voyage/x"])
def test_a_semantic_strategy_is_refused_whose_chat_model_nothing_can_talk_to(tmp_path: Path, model: str) -> None:
    strategy = f"{{type: semantic-embeddings, embedding_model: local/wordllama-256, chat_model: {model}}}"
    (kb,) = load(tmp_path, knowledge_base(strategy)).knowledge_bases
    with pytest.raises(NotAvailable, match=r"^rag\.notes\.strategies\[0\]\.chat_model: the provider `.*` is not available for chat models"):
        require_available(kb)


def test_limits_of_providers_and_runs_are_kept(tmp_path: Path) -> None:
    models = "models: {m: {provider: openai, model: x, requests_per_minute: 5, tokens_per_minute: 9, price: 2}}\n"
    strategy = (
        "{type: chunked-embeddings, embedding_model: m, vector_dimensions: 8, max_embedding_concurrency: 1, max_indexing_concurrency: 2}"
    )
    assert parts(tmp_path, models + knowledge_base(strategy, "    max_tokens_per_run: 1000\n")) == []
