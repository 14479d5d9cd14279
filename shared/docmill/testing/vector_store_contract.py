"""What every vector store must do, as tests."""

# ruff: noqa: D102 - the name of a test is its description

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Final
from uuid import uuid4

import pytest

from docmill.domain.chunks import ChunkFilter, ScoredChunk, text_hash_of
from docmill.domain.errors import StoreRejected, WrongDimension
from docmill.domain.knowledge_bases import Similarity
from docmill.ports.stores import VectorStore
from docmill.testing.chunk_store_contract import STRATEGY, ChunkStoreContract, chunk, found_ids
from docmill.testing.store_tables import EVERYTHING

DIMENSIONS: Final = 3


class VectorStoreContract(ChunkStoreContract):
    """What a vector store does."""

    def create(self, store: VectorStore, index: str) -> None:
        """Makes an index of three dimensions."""
        store.create(index, STRATEGY, DIMENSIONS, Similarity.COSINE)

    def search_all(
        self, store: VectorStore, index: str, chunk_filter: ChunkFilter, without: AbstractSet[int] = frozenset(), limit: int = 50
    ) -> list[ScoredChunk]:
        """Every chunk is near."""
        return store.search(index, [1.0, 0.0, 0.0], limit, threshold=-1.0, chunk_filter=chunk_filter, without_generations=without)

    def test_an_existing_index_refuses_other_dimensions_naming_both(self, store: VectorStore, index: str) -> None:
        with pytest.raises(WrongDimension, match=r"3\D+4|4\D+3"):
            store.create(index, STRATEGY, 4, Similarity.COSINE)

    def test_one_vector_of_a_wrong_length_keeps_all_from_being_written(self, store: VectorStore, index: str) -> None:
        with pytest.raises(WrongDimension):
            store.write(index, [chunk("a.md"), chunk("b.md", vector=[1.0, 0.0])])
        store.refresh(index)
        assert store.count(index) == 0

    def test_a_chunk_without_a_vector_is_rejected(self, store: VectorStore, index: str) -> None:
        with pytest.raises(StoreRejected):
            store.write(index, [chunk(vector=None)])

    def test_a_query_vector_of_a_wrong_length_is_rejected(self, store: VectorStore, index: str) -> None:
        with pytest.raises(WrongDimension):
            store.search(index, [1.0], 5, threshold=0.0, chunk_filter=EVERYTHING)

    @pytest.mark.parametrize(
        ("similarity", "expected"),
        [
            (Similarity.COSINE, {"same": 1.0, "near": 0.8, "apart": 0.0, "against": -1.0}),
            (Similarity.DOT_PRODUCT, {"same": 2.0, "near": 8.0, "apart": 0.0, "against": -4.0}),
            (Similarity.EUCLIDEAN, {"same": 1 / 2, "near": 1 / (1 + 45**0.5), "apart": 1 / (1 + 5**0.5), "against": 1 / 5}),
        ],
    )
    def test_the_score_is_the_similarity_itself(self, store: VectorStore, similarity: Similarity, expected: Mapping[str, float]) -> None:
        index = f"contract-{uuid4().hex}"
        store.create(index, STRATEGY, DIMENSIONS, similarity)
        vectors = {"same": [1.0, 0.0, 0.0], "near": [4.0, 3.0, 0.0], "apart": [0.0, 0.0, 1.0], "against": [-2.0, 0.0, 0.0]}
        if similarity is Similarity.EUCLIDEAN:
            vectors["near"] = [8.0, 3.0, 0.0]
        self.put(store, index, *(chunk(name, vector=vector) for name, vector in vectors.items()))
        found = store.search(index, [2.0, 0.0, 0.0], 10, threshold=-10.0, chunk_filter=EVERYTHING)
        store.drop(index)
        assert {scored.record.document_id: scored.score for scored in found} == pytest.approx(expected, abs=1e-5)
        assert [scored.record.document_id for scored in found] == sorted(expected, key=lambda name: -expected[name])

    def test_only_scores_of_at_least_the_threshold_are_found(self, store: VectorStore, index: str) -> None:
        self.put(store, index, chunk("a", vector=[1.0, 0.0, 0.0]), chunk("b", vector=[0.8, 0.6, 0.0]), chunk("c", vector=[0.6, 0.8, 0.0]))
        found = store.search(index, [1.0, 0.0, 0.0], 10, threshold=0.7, chunk_filter=EVERYTHING)
        assert found_ids(found) == ["a#0", "b#0"]

    def test_equal_scores_are_in_the_order_of_documents_and_places(self, store: VectorStore, index: str) -> None:
        self.put(store, index, *(chunk(d, 1, place, count=2) for d in ("b", "a") for place in (1, 0)))
        assert found_ids(self.search_all(store, index, EVERYTHING)) == ["a#0", "a#1", "b#0", "b#1"]

    def test_vectors_are_given_for_known_text_hashes_alone(self, store: VectorStore, index: str) -> None:
        self.put(store, index, chunk("a", text="one", vector=[0.0, 1.0, 0.0]), chunk("b", text="two", vector=[0.6, 0.0, 0.8]))
        found = store.vectors_of(index, [text_hash_of("two"), text_hash_of("three"), text_hash_of("one"), text_hash_of("one")])
        assert {key: list(vector) for key, vector in found.items()} == {
            text_hash_of("one"): pytest.approx([0.0, 1.0, 0.0]),
            text_hash_of("two"): pytest.approx([0.6, 0.0, 0.8]),
        }

    def test_no_text_hashes_have_no_vectors(self, store: VectorStore, index: str) -> None:
        assert store.vectors_of(index, []) == {}
        assert store.vectors_of(index, [text_hash_of("one")]) == {}

    def test_what_was_indexed_is_given_for_known_text_hashes_alone(self, store: VectorStore, index: str) -> None:
        summary = chunk("a", text="def pay(): ...", indexed_text="How a bill is paid.", text_hash="of a prompt")
        self.put(store, index, summary, chunk("b", text="two", indexed_text="Title > B\n\ntwo"))
        found = store.indexed_texts_of(index, [text_hash_of("two"), text_hash_of("three"), "of a prompt", "of a prompt"])
        assert found == {"of a prompt": "How a bill is paid.", text_hash_of("two"): "Title > B\n\ntwo"}
        assert store.indexed_texts_of(index, []) == {}

    def test_a_text_that_many_chunks_share_hides_no_other(self, store: VectorStore, index: str) -> None:
        self.put(
            store,
            index,
            *(chunk(f"{number}", text="shared") for number in range(300)),
            *(chunk(f"x{number}", text=f"own {number}") for number in range(300)),
        )
        wanted = [text_hash_of("shared"), *(text_hash_of(f"own {number}") for number in range(300))]
        assert set(store.vectors_of(index, wanted)) == set(wanted)
        assert set(store.indexed_texts_of(index, wanted)) == set(wanted)
