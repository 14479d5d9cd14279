"""Reranking: what a model makes of hits, and that a failing one costs nothing but its order."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Event

import pytest
from structlog.testing import capture_logs

from docmill.adapters.clock import SystemClock
from docmill.domain.errors import ConfigurationError, ProviderPermanent, ProviderTransient, TextRefused
from docmill.domain.knowledge_bases import Reranking, ScoreFloor
from docmill.domain.searching import Degraded, Hit, SearchRequest
from docmill.ports.models import Caller
from docmill.retrieval.rerank import ModelStage, Reranked, Stage, rerank, stages_of
from docmill.retrieval.search import Searcher
from support.library import Library, StillClock, record_of

#: Ten seconds after the time at which ``StillClock`` stands.
SOON = 1010.0

Score = Callable[[str], float | None]


class Judge:
    """A rerank model that scores by a function of the passage."""

    name = "memory/judge"

    def __init__(self, score: Score) -> None:
        self.score_of = score
        self.asked: list[list[str]] = []
        self.criteria: list[str | None] = []

    def score(self, query: str, passages: Sequence[str], *, criteria: str | None) -> list[float | None]:
        self.asked.append(list(passages))
        self.criteria.append(criteria)
        return [self.score_of(passage) for passage in passages]

    def on_behalf_of(self, caller: Caller) -> "Judge":
        return self


def failing(error: Exception) -> Score:
    def score(passage: str) -> float | None:
        raise error

    return score


@pytest.fixture
def executor() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(2) as made:
        yield made


def hits_of(*texts: str) -> list[Hit]:
    """Hits in this order; the n-th has the score 1/n."""
    return [Hit(replace(record_of(text, 0, text), indexed_text=text), 1.0 / rank, {}) for rank, text in enumerate(texts, start=1)]


def texts_of(outcome: Reranked) -> list[str]:
    return [hit.record.text for hit in outcome.hits]


def stage(judge: Judge, *, top_k: int | None = None, threshold: float = 0.0) -> ModelStage:
    return ModelStage(Reranking("judge", top_k=top_k, threshold=threshold, criteria="New first."), lambda: judge)


def by_table(**scores: float | None) -> Judge:
    return Judge(scores.__getitem__)


def test_hits_come_in_the_order_of_the_models_scores() -> None:
    judge = by_table(a=0.1, b=0.9, c=0.5)
    outcome = stage(judge).rerank("query", hits_of("a", "b", "c"))
    assert texts_of(outcome) == ["b", "c", "a"]
    assert [hit.relevance for hit in outcome.hits] == [0.9, 0.5, 0.1]
    assert outcome.by_model
    assert judge.criteria == ["New first."]


def test_equal_scores_keep_their_order() -> None:
    assert texts_of(stage(by_table(a=0.5, b=0.5, c=0.5)).rerank("query", hits_of("b", "a", "c"))) == ["b", "a", "c"]


def test_what_the_model_leaves_out_keeps_its_order_behind_what_it_scores() -> None:
    outcome = stage(by_table(a=None, b=0.2, c=None, d=0.7), threshold=0.1).rerank("query", hits_of("a", "b", "c", "d"))
    assert texts_of(outcome) == ["d", "b", "a", "c"]


def test_what_scores_below_the_threshold_is_left_out_and_counted() -> None:
    outcome = stage(by_table(a=0.2, b=0.3, c=0.9), threshold=0.3).rerank("query", hits_of("a", "b", "c"))
    assert (texts_of(outcome), outcome.dropped) == (["c", "b"], 1)


def test_a_hit_beyond_top_k_is_not_read_and_never_overtakes_one_that_is() -> None:
    judge = by_table(a=0.01, b=0.02)
    outcome = stage(judge, top_k=2).rerank("query", hits_of("a", "b", "c", "d"))
    assert texts_of(outcome) == ["b", "a", "c", "d"]
    assert judge.asked == [["a", "b"]]


def test_a_model_that_scores_nothing_changes_nothing_and_is_not_said_to_have_reranked() -> None:
    outcome = stage(by_table(a=None, b=None), threshold=0.9).rerank("query", hits_of("a", "b"))
    assert (texts_of(outcome), outcome.by_model) == (["a", "b"], False)


def test_nothing_found_asks_no_model() -> None:
    judge = by_table()
    assert texts_of(stage(judge).rerank("query", [])) == []
    assert judge.asked == []


@pytest.mark.parametrize("error", [ProviderPermanent("401: no"), ConfigurationError("JUDGE_KEY is not set")])
def test_a_permanent_error_switches_the_model_off_and_is_said_once(executor: ThreadPoolExecutor, error: Exception) -> None:
    judge = Judge(failing(error))
    stages: list[Stage] = [stage(judge)]
    with capture_logs() as logs:
        outcomes = [rerank(stages, "query", hits_of("b", "a"), executor, StillClock(), SOON) for _ in range(3)]
    for outcome, degraded in outcomes:
        assert (texts_of(outcome), outcome.by_model) == (["b", "a"], False)
        assert degraded == [Degraded("reranking", error.code, f"judge: {error}")]  # type: ignore[attr-defined]
    assert len(judge.asked) == 1
    assert [(log["event"], log["model"]) for log in logs] == [("reranker_switched_off", "judge")]
    assert [one.refusal for one in stages if isinstance(one, ModelStage)] == [str(error)]


@pytest.mark.parametrize("error", [ProviderTransient("503"), TextRefused("too long", 0)])
def test_a_failure_that_may_pass_costs_one_query_its_order(executor: ThreadPoolExecutor, error: Exception) -> None:
    judge = Judge(failing(error))
    one = stage(judge)
    outcome, degraded = rerank([one], "query", hits_of("b", "a"), executor, StillClock(), SOON)
    assert (texts_of(outcome), [failure.strategy for failure in degraded]) == (["b", "a"], ["reranking"])
    judge.score_of = {"a": 0.9, "b": 0.1}.__getitem__
    outcome, degraded = rerank([one], "query", hits_of("b", "a"), executor, StillClock(), SOON)
    assert (texts_of(outcome), degraded) == (["a", "b"], [])
    assert one.refusal is None


def test_a_model_that_is_late_leaves_the_order_as_it_is(executor: ThreadPoolExecutor) -> None:
    released = Event()
    judge = Judge(lambda _: 1.0 if released.wait(30) else None)
    clock = SystemClock()
    outcome, degraded = rerank([stage(judge)], "query", hits_of("b", "a"), executor, clock, clock.monotonic() + 0.05)
    released.set()
    assert texts_of(outcome) == ["b", "a"]
    assert [failure.code for failure in degraded] == ["search.strategy_late"]
    assert degraded[0].reason.startswith("judge: it did not answer")


def test_a_floor_leaves_out_what_is_far_below_the_best_and_the_model_reads_the_rest(executor: ThreadPoolExecutor) -> None:
    judge = by_table(a=0.1, b=0.9)
    stages = stages_of([ScoreFloor(0.5), Reranking("judge", threshold=0.0)], lambda reference: judge)
    outcome, degraded = rerank(stages, "query", hits_of("a", "b", "c", "d"), executor, StillClock(), SOON)
    assert (texts_of(outcome), outcome.dropped, degraded) == (["b", "a"], 2, [])
    assert judge.asked == [["a", "b"]]


def test_a_floor_under_scores_that_are_not_above_0_leaves_out_nothing(executor: ThreadPoolExecutor) -> None:
    hits = [replace(hit, score=-hit.score) for hit in hits_of("a", "b")]
    outcome, _ = rerank(stages_of([ScoreFloor(0.5)], lambda reference: by_table()), "query", hits, executor, StillClock(), SOON)
    assert texts_of(outcome) == ["a", "b"]


def test_a_stage_that_fails_leaves_the_next_one_what_the_one_before_made(executor: ThreadPoolExecutor) -> None:
    first, broken, last = by_table(a=0.1, b=0.9), Judge(failing(ProviderTransient("503"))), by_table(a=0.8, b=0.8)
    outcome, degraded = rerank([stage(first), stage(broken), stage(last)], "query", hits_of("a", "b"), executor, StillClock(), SOON)
    assert (texts_of(outcome), len(degraded), outcome.by_model) == (["b", "a"], 1, True)


def test_models_that_hang_do_not_keep_strategies_from_their_threads(executor: ThreadPoolExecutor) -> None:
    released = Event()
    library = Library()
    library.put("a", "apple one")
    judge = Judge(lambda _: 1.0 if released.wait(60) else None)
    with ThreadPoolExecutor(1) as strategies:
        searcher = Searcher(
            library.settings,
            library.retrievers(),
            library.state.registry,
            executor=strategies,
            clock=SystemClock(),
            read_text=library.texts.get,
            stat_of=library.stats.get,
            timeout_seconds=0.5,
            reranking=[stage(judge)],
            reranking_executor=executor,
        )
        try:
            first = searcher.search(SearchRequest("apple"))
            assert [failure.code for failure in first.degraded] == ["search.strategy_late"]
            assert strategies.submit(lambda: "free").result(30) == "free"
        finally:
            released.set()
            library.close()


def test_a_search_reranks_before_it_cuts_to_the_limit() -> None:
    library = Library()
    try:
        library.put("a", "apple one")
        library.put("b", "apple two")
        judge = Judge(lambda passage: 0.9 if "two" in passage else 0.2)
        searcher = library.searcher(StillClock(), reranking=[stage(judge)])
        first = searcher.search(SearchRequest("apple", limit=1, rerank=True))
        assert ([hit.record.document_id for hit in first.hits], first.reranked) == (["b"], True)
        asked = len(judge.asked)
        without = searcher.search(SearchRequest("apple", rerank=False))
        assert ([hit.rerank_score for hit in without.hits], without.reranked, len(judge.asked)) == ([None, None], False, asked)
    finally:
        library.close()
