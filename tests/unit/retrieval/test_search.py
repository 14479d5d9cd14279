from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from threading import Event

import pytest

from docmill.adapters.memory.state import MemoryState
from docmill.domain.chunks import ChunkFilter, ScoredChunk, Vector
from docmill.domain.errors import (
    AllStrategiesFailed,
    ConfigurationError,
    DocmillError,
    ProviderLeftAlone,
    ProviderTransient,
    QueryInvalid,
    StoreDown,
)
from docmill.domain.knowledge_bases import EmbeddingModelSpec, Fusion, FusionKind, Results, StrategySpec
from docmill.domain.registry import Lane
from docmill.domain.searching import SearchRequest
from docmill.ports.models import Caller
from docmill.retrieval.query_vectors import QueryVectors
from docmill.retrieval.retrievers import VectorRetriever
from docmill.retrieval.search import Searcher
from support.library import VECTORS, WORDS, Library, StillClock

CALLER = Caller("library", is_query=True)


@dataclass
class Broken:
    """A retriever whose store does not answer."""

    spec: StrategySpec
    at_once: bool = True
    error: DocmillError | None = None

    def answers_at_once(self, query: str) -> bool:
        return self.at_once

    def retrieve(
        self, index: str, query: str, limit: int, chunk_filter: ChunkFilter, without_generations: AbstractSet[int]
    ) -> list[ScoredChunk]:
        raise self.error or StoreDown(f"{self.spec.name}: connection refused")


class Hanging(Broken):
    """A retriever that answers when it is released."""

    released = Event()

    def retrieve(
        self, index: str, query: str, limit: int, chunk_filter: ChunkFilter, without_generations: AbstractSet[int]
    ) -> list[ScoredChunk]:
        self.released.wait(30.0)
        return []


@pytest.fixture
def library() -> Iterator[Library]:
    made = Library()
    yield made
    made.close()


def documents(searcher: Searcher, query: str = "apple", **options: object) -> list[str]:
    return [hit.record.document_id for hit in searcher.search(replace(SearchRequest(query), **options)).hits]


def test_a_hit_of_both_strategies_comes_once_with_both_places(library: Library) -> None:
    library.put("a", "apple pie")
    (hit,) = library.searcher(StillClock()).search(SearchRequest("apple pie")).hits
    assert {name: trace.rank for name, trace in hit.strategies.items()} == {"bm25": 1, "chunked-embeddings": 1}
    assert hit.score == pytest.approx(2 / 61)


def test_each_strategy_gives_at_most_its_limit(library: Library) -> None:
    for number in range(9):
        library.put(f"d{number}", f"apple {number}")
    searcher = library.searcher(StillClock())
    assert len(documents(searcher, strategies=("bm25",))) == WORDS.limit
    assert len(documents(searcher, limit=2)) == 2


def test_candidates_of_a_model_that_cannot_read_the_query_count_only_where_there_are_no_others() -> None:
    latin_only = replace(VECTORS, embedding=EmbeddingModelSpec("local", "all-minilm-l6-v2"))
    library = Library(strategies=(WORDS, latin_only))
    try:
        library.put("a", "苹果")
        library.put("b", "apple")
        searcher = library.searcher(StillClock())
        assert documents(searcher, "苹果") == ["a"]
        assert set(documents(searcher, "apple")) == {"a", "b"}
        assert set(documents(searcher, "香蕉")) == {"a", "b"}
        assert set(documents(searcher, "苹果", strategies=("chunked-embeddings",))) == {"a", "b"}
    finally:
        library.close()


def test_equal_scores_give_equal_answers_in_document_order(library: Library) -> None:
    for name in ("c", "a", "b"):
        library.put(name, "apple")
    searcher = library.searcher(StillClock())
    assert documents(searcher) == documents(searcher) == ["a", "b", "c"]


def test_a_strategy_that_fails_is_named_and_the_other_answers(library: Library) -> None:
    library.put("a", "apple")
    for at_once in (True, False):
        outcome = library.searcher(StillClock(), [library.retrievers()[0], Broken(VECTORS, at_once)]).search(SearchRequest("apple"))
        assert [hit.record.document_id for hit in outcome.hits] == ["a"]
        (degraded,) = outcome.degraded
        assert (degraded.strategy, degraded.code) == ("chunked-embeddings", "store.down")
        assert "connection refused" in degraded.reason


def test_a_late_strategy_is_named_and_the_other_answers(library: Library) -> None:
    library.put("a", "apple")
    hanging = Hanging(VECTORS, at_once=False)
    with ThreadPoolExecutor(1) as executor:
        searcher = Searcher(
            library.settings,
            [hanging, library.retrievers()[0]],
            library.state.registry,
            executor=executor,
            clock=StillClock(),
            read_text=library.texts.get,
            stat_of=library.stats.get,
            timeout_seconds=0.0,
        )
        outcome = searcher.search(SearchRequest("apple"))
        hanging.released.set()
    assert [hit.record.document_id for hit in outcome.hits] == ["a"]
    assert [(one.strategy, one.code) for one in outcome.degraded] == [("chunked-embeddings", "search.strategy_late")]


def test_all_strategies_failing_is_an_error_with_each_reason(library: Library) -> None:
    searcher = library.searcher(StillClock(), [Broken(WORDS), Broken(VECTORS, at_once=False)])
    with pytest.raises(AllStrategiesFailed, match="bm25: bm25: connection refused; chunked-embeddings: "):
        searcher.search(SearchRequest("apple"))


def test_when_all_strategies_fail_the_first_that_may_work_again_says_when_to_come_again(library: Library) -> None:
    broken = [Broken(WORDS, error=ProviderTransient("busy", 41.0)), Broken(VECTORS, error=ProviderLeftAlone("closed", 7.5))]
    with pytest.raises(AllStrategiesFailed) as failed:
        library.searcher(StillClock(), broken).search(SearchRequest("apple"))
    assert failed.value.retry_after_seconds == 7.5


def test_the_only_strategy_asked_failing_is_an_error(library: Library) -> None:
    with pytest.raises(AllStrategiesFailed):
        library.searcher(StillClock(), [library.retrievers()[0], Broken(VECTORS)]).search(
            SearchRequest("apple", strategies=("chunked-embeddings",))
        )


def test_an_embedding_model_that_fails_degrades_its_strategy(library: Library) -> None:
    class Failing:
        name = "memory/failing"
        dimensions = library.model.dimensions

        def embed_query(self, text: str) -> Vector:
            raise ProviderTransient("status 503")

        def embed_passages(self, texts: object) -> list[Vector]:
            raise NotImplementedError

        def on_behalf_of(self, caller: Caller) -> "Failing":
            return self

    library.put("a", "apple")
    failing = VectorRetriever(VECTORS, library.vectors, Failing(), CALLER, QueryVectors(), in_process=True)
    outcome = library.searcher(StillClock(), [library.retrievers()[0], failing]).search(SearchRequest("apple"))
    assert [one.code for one in outcome.degraded] == ["provider.transient"]


def test_a_threshold_is_on_the_strategys_own_scale() -> None:
    library = Library(strategies=(replace(WORDS, threshold=0.05),))
    library.put("a", "apple")
    assert documents(library.searcher(StillClock())) == ["a"], "its fused score is 1/61, below the threshold, which is BM25's"
    library.close()


def test_equal_text_of_one_document_comes_once_and_of_two_documents_twice(library: Library) -> None:
    library.put("a", "apple\n\napple")
    library.put("b", "apple")
    assert documents(library.searcher(StillClock())) == ["a", "b"]


def test_without_deduplication_equal_text_at_two_places_comes_twice() -> None:
    library = Library(results=Results(deduplicate=False))
    library.put("a", "apple\n\napple")
    assert documents(library.searcher(StillClock())) == ["a", "a"]
    library.close()


def test_full_content_gives_each_document_once_with_its_whole_text(library: Library) -> None:
    library.put("a", "apple one\n\napple two")
    outcome = library.searcher(StillClock()).search(SearchRequest("apple", return_full_content=True))
    assert [hit.record.document_id for hit in outcome.hits] == ["a"]
    assert outcome.full_texts == {"a": "apple one\n\napple two"}


def test_a_changed_or_deleted_file_is_stale(library: Library) -> None:
    for name in ("same", "edited", "deleted"):
        library.put(name, "apple")
    library.stats["edited"] = "other"
    del library.stats["deleted"]
    assert library.searcher(StillClock()).search(SearchRequest("apple")).stale == {"edited", "deleted"}


def test_freshness_says_what_was_read(library: Library) -> None:
    run, _ = library.state.ledger.start_run()
    library.put("a", "apple", run.id)
    library.state.ledger.scan_ended(run.id)
    assert library.state.ledger.complete(run.id)
    library.state.ledger.enqueue(["b", "c"], Lane.LIVE)
    freshness = library.searcher(StillClock()).search(SearchRequest("apple")).freshness
    assert (freshness.index_set, freshness.commit, freshness.pending) == ("set1", 1, 2)
    assert freshness.last_complete_run is not None
    assert not freshness.unverified


def test_a_knowledge_base_that_was_never_indexed_finds_nothing() -> None:
    library = Library()
    library.state = MemoryState("library")
    outcome = library.searcher(StillClock()).search(SearchRequest("apple"))
    library.close()
    assert (outcome.hits, outcome.degraded, outcome.freshness.index_set) == ((), (), None)


def test_a_filter_reaches_every_strategy(library: Library) -> None:
    library.put("docs/a", "apple")
    library.put("src/b", "apple")
    assert documents(library.searcher(StillClock()), filter=ChunkFilter(path_prefix="src/")) == ["src/b"]


def test_a_query_is_embedded_once(library: Library) -> None:
    library.put("a", "apple")
    searcher = library.searcher(StillClock())
    assert documents(searcher) == documents(searcher)
    assert len(library.query_vectors) == 1


def test_the_cache_of_query_vectors_is_bounded_and_forgets_the_oldest(library: Library) -> None:
    cache = QueryVectors(capacity=2)
    for text in ("one", "two", "one", "three"):
        assert cache.vector_of(library.model, text, CALLER) == library.model.embed_query(text)
    assert len(cache) == 2
    assert cache.holds(library.model, "one")
    assert not cache.holds(library.model, "two")


def test_reranking_that_is_not_configured_is_refused(library: Library) -> None:
    with pytest.raises(QueryInvalid, match="rerank"):
        library.searcher(StillClock()).search(SearchRequest("apple", rerank=True))
    assert documents(library.searcher(StillClock()), rerank=False) == []


def test_weighted_fusion_without_a_weight_is_refused_at_the_start() -> None:
    library = Library(results=Results(fusion=Fusion(FusionKind.WEIGHTED, weights={"bm25": 1.0})))
    with pytest.raises(ConfigurationError, match="chunked-embeddings"):
        library.searcher(StillClock())
    library.close()
