"""What decides which vector a text gets."""

from dataclasses import replace

import pytest

from docmill.domain.knowledge_bases import ChatModelSpec, Chunking, EmbeddingModelSpec, Similarity, StrategyKind, StrategySpec

MODEL = EmbeddingModelSpec("acme", "embed", 8, base_url="http://one/v1")
DENSE = StrategySpec("dense", StrategyKind.CHUNKED_EMBEDDINGS, 0.0, embedding=MODEL)
CHAT = ChatModelSpec("acme", "writer", base_url="http://one/v1")
SEMANTIC = StrategySpec("meaning", StrategyKind.SEMANTIC_EMBEDDINGS, 0.0, embedding=MODEL, chat_model=CHAT)


def test_a_strategy_without_vectors_has_no_shape() -> None:
    assert StrategySpec("words", StrategyKind.BM25, 0.0).embedding_shape is None


@pytest.mark.parametrize(
    "other",
    [
        replace(DENSE, name="other"),
        replace(DENSE, limit=50),
        replace(DENSE, chunking=Chunking(size=500)),
        replace(DENSE, threshold=0.9),
        replace(DENSE, embedding=replace(MODEL, query_prefix="query: ", headers=(("X-Team", "search"),), token_key="K")),
    ],
)
def test_what_does_not_touch_vectors_leaves_it_as_it_is(other: StrategySpec) -> None:
    assert other.embedding_shape == DENSE.embedding_shape


@pytest.mark.parametrize(
    "other",
    [
        replace(DENSE, embedding=replace(MODEL, base_url="http://two/v1")),
        replace(DENSE, embedding=replace(MODEL, model="embed-2")),
        replace(DENSE, embedding=replace(MODEL, dimensions=16)),
        replace(DENSE, embedding=replace(MODEL, passage_prefix="passage: ")),
        replace(DENSE, similarity=Similarity.DOT_PRODUCT),
    ],
)
def test_another_endpoint_model_length_or_similarity_is_another_shape(other: StrategySpec) -> None:
    assert other.embedding_shape != DENSE.embedding_shape


def test_only_a_strategy_with_a_chat_model_has_summaries() -> None:
    assert DENSE.summary_shape is None
    assert SEMANTIC.summary_shape is not None


@pytest.mark.parametrize(
    "other",
    [
        replace(SEMANTIC, chat_model=replace(CHAT, model="writer-2")),
        replace(SEMANTIC, chat_model=replace(CHAT, base_url="http://two/v1")),
        replace(SEMANTIC, semantic_prompt="Say what ${content} means."),
        replace(SEMANTIC, ast_context=True),
    ],
)
def test_another_chat_model_or_prompt_makes_other_summaries_and_vectors(other: StrategySpec) -> None:
    assert other.summary_shape != SEMANTIC.summary_shape
    assert other.embedding_shape != SEMANTIC.embedding_shape


def test_another_embedding_model_makes_other_vectors_of_the_same_summaries() -> None:
    other = replace(SEMANTIC, embedding=replace(MODEL, model="embed-2"))
    assert other.summary_shape == SEMANTIC.summary_shape
    assert other.embedding_shape != SEMANTIC.embedding_shape


def test_how_long_a_summary_may_be_and_how_it_is_asked_for_is_no_part_of_its_shape() -> None:
    other = replace(SEMANTIC, chat_model=replace(CHAT, max_tokens=900, temperature=0.7, token_key="K", headers=(("X-Team", "search"),)))
    assert other.embedding_shape == SEMANTIC.embedding_shape
