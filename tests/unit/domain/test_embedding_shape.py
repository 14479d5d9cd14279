"""What decides which vector a text gets."""

from dataclasses import replace

import pytest

from docmill.domain.knowledge_bases import Chunking, EmbeddingModelSpec, Similarity, StrategyKind, StrategySpec

MODEL = EmbeddingModelSpec("acme", "embed", 8, base_url="http://one/v1")
DENSE = StrategySpec("dense", StrategyKind.CHUNKED_EMBEDDINGS, 0.0, embedding=MODEL)


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
