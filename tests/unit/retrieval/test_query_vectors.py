"""The vectors of recent queries."""

from docmill.adapters.memory.models import HashEmbeddingModel
from docmill.ports.models import Caller
from docmill.retrieval.query_vectors import QueryVectors

CALLER = Caller("notes", is_query=True)


def test_a_query_that_comes_again_is_not_embedded_again() -> None:
    model, vectors = HashEmbeddingModel(8), QueryVectors()
    assert vectors.vector_of(model, "a date", CALLER) == vectors.vector_of(model, "a date", CALLER)
    assert model.calls == 1


def test_two_models_of_one_name_keep_their_own_vectors() -> None:
    first, second, vectors = HashEmbeddingModel(8), HashEmbeddingModel(8), QueryVectors()
    vectors.vector_of(first, "a date", CALLER)
    assert not vectors.holds(second, "a date")
    vectors.vector_of(second, "a date", CALLER)
    assert (first.calls, second.calls) == (1, 1)


def test_the_least_recent_query_is_forgotten_first() -> None:
    model, vectors = HashEmbeddingModel(8), QueryVectors(capacity=2)
    for query in ("one", "two", "one", "three"):
        vectors.vector_of(model, query, CALLER)
    assert [vectors.holds(model, query) for query in ("one", "two", "three")] == [True, False, True]


def test_the_model_is_called_for_the_knowledge_base_that_is_searched() -> None:
    callers = []

    class Noting(HashEmbeddingModel):
        def on_behalf_of(self, caller: Caller) -> "Noting":
            callers.append(caller)
            return self

    model, vectors = Noting(8), QueryVectors()
    for name in ("notes", "mails"):
        vectors.vector_of(model, "a date", Caller(name, is_query=True))
    assert callers == [CALLER]
    assert model.calls == 1
