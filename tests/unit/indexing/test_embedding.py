"""A text that was embedded before is not embedded again."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from docmill.adapters.memory.models import HashEmbeddingModel, hash_vector
from docmill.adapters.memory.stores import MemoryVectorStore
from docmill.domain.chunks import ChunkRecord, Vector
from docmill.domain.errors import ProviderPermanent, Superseded, TextRefused
from docmill.domain.knowledge_bases import Similarity
from docmill.indexing.embedding import embed_records
from support.library import record_of

DIMENSIONS = 8


class Noting(HashEmbeddingModel):
    """Notes which texts were given to it, call by call."""

    def __init__(self) -> None:
        super().__init__(DIMENSIONS)
        self.asked: list[list[str]] = []

    def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        self.asked.append(list(texts))
        return super().embed_passages(texts)


class Short(HashEmbeddingModel):
    """Loses a vector."""

    def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        return super().embed_passages(texts)[1:]


class Choosy(HashEmbeddingModel):
    """Does not take one text."""

    def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        if "poison" in texts:
            raise TextRefused("too long", texts.index("poison"))
        return super().embed_passages(texts)


@pytest.fixture
def store() -> MemoryVectorStore:
    made = MemoryVectorStore()
    for index in ("new", "old"):
        made.create(index, "dense", DIMENSIONS, Similarity.COSINE)
    return made


def records(*texts: str) -> list[ChunkRecord]:
    return [record_of("a.md", place, text, generation=5, count=len(texts)) for place, text in enumerate(texts)]


def stored(store: MemoryVectorStore, index: str, text: str, vector: Vector) -> None:
    store.write(index, [replace(record_of("b.md", 0, text), vector=vector)])


def test_every_record_gets_the_vector_of_its_text(store: MemoryVectorStore) -> None:
    done = embed_records(records("one", "two"), Noting(), store, ["new"])
    assert [record.vector for record in done.records] == [hash_vector(text, DIMENSIONS) for text in ("one", "two")]
    assert (done.embedded, done.reused) == (2, 0)


def test_equal_texts_of_one_document_are_embedded_once(store: MemoryVectorStore) -> None:
    model = Noting()
    done = embed_records(records("one", "two", "one"), model, store, ["new"])
    assert model.asked == [["one", "two"]]
    assert done.records[0].vector == done.records[2].vector


def test_only_texts_that_no_index_has_are_embedded(store: MemoryVectorStore) -> None:
    stored(store, "old", "one", hash_vector("one", DIMENSIONS))
    model = Noting()
    done = embed_records(records("one", "two"), model, store, ["new", "old"])
    assert model.asked == [["two"]]
    assert (done.embedded, done.reused) == (1, 1)


def test_the_first_index_that_has_a_text_gives_its_vector(store: MemoryVectorStore) -> None:
    stored(store, "new", "one", hash_vector("newer", DIMENSIONS))
    stored(store, "old", "one", hash_vector("older", DIMENSIONS))
    (record,) = embed_records(records("one"), Noting(), store, ["new", "old"]).records
    assert record.vector == pytest.approx(hash_vector("newer", DIMENSIONS))


def test_nothing_is_asked_of_the_model_when_every_text_is_known(store: MemoryVectorStore) -> None:
    stored(store, "new", "one", hash_vector("one", DIMENSIONS))
    model = Noting()
    embed_records(records("one", "one"), model, store, ["new"])
    assert model.asked == []


def test_no_call_has_more_texts_than_it_may(store: MemoryVectorStore) -> None:
    model = Noting()
    done = embed_records(records("one", "two", "three"), model, store, [], texts_a_call=2)
    assert model.asked == [["one", "two"], ["three"]]
    assert [record.vector for record in done.records] == [hash_vector(text, DIMENSIONS) for text in ("one", "two", "three")]


def test_the_work_can_be_ended_between_two_calls(store: MemoryVectorStore) -> None:
    model = Noting()

    def end_after_the_first() -> None:
        if model.asked:
            raise Superseded("the lease ran out")

    with pytest.raises(Superseded):
        embed_records(records("one", "two"), model, store, [], texts_a_call=1, between=end_after_the_first)
    assert model.asked == [["one"]]


def test_a_model_that_returns_too_few_vectors_is_refused(store: MemoryVectorStore) -> None:
    with pytest.raises(ProviderPermanent, match="1 vectors for 2 texts"):
        embed_records(records("one", "two"), Short(DIMENSIONS), store, ["new"])


def test_a_refused_text_is_named_by_its_lines(store: MemoryVectorStore) -> None:
    stored(store, "new", "one", hash_vector("one", DIMENSIONS))
    known, other, poison = records("one", "two", "poison")
    given = [known, other, replace(poison, start_line=12, end_line=20), replace(poison, start_line=40, end_line=41)]
    with pytest.raises(TextRefused, match=r"too long \(the text of lines 12 to 20\)") as refused:
        embed_records(given, Choosy(DIMENSIONS), store, ["new"], texts_a_call=1)
    assert refused.value.place == 1
