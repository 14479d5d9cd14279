"""What embedding models want before a query and before a passage."""

from pathlib import Path

import pytest

from docmill.config.prefixes import NO_PREFIXES, Prefixes, prefixes_of
from docmill.domain.knowledge_bases import EmbeddingModelSpec
from support.configuration_files import knowledge_base, load

GEMMA = Prefixes("task: search result | query: ", "title: none | text: ")
NOMIC = Prefixes("search_query: ", "search_document: ")
E5 = Prefixes("query: ", "passage: ")
SENTENCE = Prefixes("Represent this sentence for searching relevant passages: ")


@pytest.mark.parametrize(
    ("model", "prefixes"),
    [
        ("ai/embeddinggemma", GEMMA),
        ("embeddinggemma:300m-qat-q8_0", GEMMA),
        ("google/embeddinggemma-300m", GEMMA),
        ("gemini-embedding-2", GEMMA),
        ("gemini-embedding-001", NO_PREFIXES),
        ("nomic-embed-text", NOMIC),
        ("nomic-ai/nomic-embed-text-v1.5", NOMIC),
        ("hf.co/nomic-ai/nomic-embed-text-v2-moe-GGUF:Q8_0", NOMIC),
        ("ai/nomic-embed-text-v1.5:latest", NOMIC),
        ("intfloat/multilingual-e5-large", E5),
        ("e5-small-v2", E5),
        ("yxchia/multilingual-e5-base", E5),
        ("BAAI/bge-large-en-v1.5", SENTENCE),
        ("bge-m3", NO_PREFIXES),
        ("BAAI/bge-reranker-base", NO_PREFIXES),
        ("mxbai-embed-large", SENTENCE),
        ("ai/mxbai-embed-large", SENTENCE),
        ("snowflake-arctic-embed:335m", SENTENCE),
        ("snowflake-arctic-embed2", Prefixes("query: ")),
        ("Snowflake/snowflake-arctic-embed-l-v2.0", Prefixes("query: ")),
        ("text-embedding-3-small", NO_PREFIXES),
        ("mistral-embed", NO_PREFIXES),
        ("voyage-3.5", NO_PREFIXES),
        ("embed-v4.0", NO_PREFIXES),
        ("all-minilm", NO_PREFIXES),
        ("some-base-model", NO_PREFIXES),
    ],
)
def test_a_model_is_known_by_the_family_in_its_name(model: str, prefixes: Prefixes) -> None:
    assert prefixes_of(model) == prefixes


@pytest.mark.parametrize("model", ["intfloat/multilingual-e5-large-instruct", "intfloat/e5-mistral-7b-instruct", "ai/qwen3-embedding"])
def test_a_model_that_reads_instructions_has_one_before_its_queries_alone(model: str) -> None:
    prefixes = prefixes_of(model)
    assert prefixes.query.startswith("Instruct: ")
    assert prefixes.query.rstrip().endswith("Query:")
    assert prefixes.passage == ""


def test_a_configured_model_has_its_prefixes_and_a_local_one_has_none(tmp_path: Path) -> None:
    def embedding(strategy: str) -> EmbeddingModelSpec:
        [kb] = load(tmp_path, knowledge_base(strategy)).knowledge_bases
        assert kb.strategies[0].embedding is not None
        return kb.strategies[0].embedding

    gemma = embedding("{type: chunked-embeddings, embedding_model: dmr/ai/embeddinggemma}")
    local = embedding("{type: chunked-embeddings, embedding_model: local/all-minilm-l6-v2}")
    assert (gemma.query_prefix, gemma.passage_prefix) == (GEMMA.query, GEMMA.passage)
    assert (local.query_prefix, local.passage_prefix) == ("", "")
