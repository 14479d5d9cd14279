"""What is asked of searches, and what is measured of their answers."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from docmill.domain.errors import ServiceDown
from docmill_services.evaluation.evaluating import Way, evaluate, measure_names


class Searches:
    """Answers each query by chunks of these documents, as HTTP does."""

    def __init__(self, found: Mapping[str, Sequence[str]], **more: Any) -> None:
        self.found = found
        self.more = more
        self.bodies: list[Mapping[str, Any]] = []

    def __call__(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        self.bodies.append(body)
        return {
            "results": [{"document_id": document} for document in self.found[body["query"]][: body["limit"]]],
            "degraded": [],
            "reranked": False,
            "freshness": {"pending": 0},
            **self.more,
        }


QUERIES = {"1": "apples", "2": "pears"}
GRADES = {"1": {"a": 1}, "2": {"b": 1, "c": 1}}


def test_each_measure_is_the_mean_over_all_queries() -> None:
    (measured,) = evaluate(Searches({"apples": ["x", "a"], "pears": []}), QUERIES, GRADES, [Way("fused")])
    assert measured.measures["MRR@10"] == pytest.approx((1 / 2 + 0) / 2)
    assert measured.measures["MAP@100"] == pytest.approx((1 / 2 + 0) / 2)
    assert measured.measures["recall@10"] == measured.measures["recall@100"] == pytest.approx((1 + 0) / 2)
    assert tuple(measured.measures) == measure_names(100)
    assert measured.without_results == 1


def test_each_query_is_asked_in_every_way_before_the_next_one() -> None:
    searches = Searches({"apples": [], "pears": []})
    evaluate(searches, QUERIES, GRADES, [Way("words", ("words",)), Way("fused"), Way("reranked", rerank=True)])
    asked = [(body["query"], body.get("strategies"), body["rerank"]) for body in searches.bodies]
    assert asked[:3] == [("apples", ["words"], False), ("apples", None, False), ("apples", None, True)]
    assert [query for query, *_ in asked] == ["apples"] * 3 + ["pears"] * 3


def test_chunks_count_for_their_document_at_its_best_rank() -> None:
    (measured,) = evaluate(Searches({"apples": ["x", "x", "x", "a", "x"]}), {"1": "apples"}, GRADES, [Way("fused")])
    assert measured.measures["MRR@10"] == pytest.approx(1 / 2)


def test_more_chunks_are_asked_for_while_they_are_of_too_few_documents() -> None:
    searches = Searches({"apples": [*["x"] * 30, *(f"d{number}" for number in range(30)), "a"], "pears": ["b"] * 3000})
    (measured,) = evaluate(searches, QUERIES, GRADES, [Way("fused")], depth=20)
    assert [body["limit"] for body in searches.bodies] == [20, 40, 80, 80, 160, 320, 640, 1000]
    assert measured.measures["recall@20"] == pytest.approx((0 + 1 / 2) / 2)


def test_no_more_documents_count_than_the_depth() -> None:
    searches = Searches({"apples": [*(f"d{number}" for number in range(15)), "a"]})
    (measured,) = evaluate(searches, {"1": "apples"}, GRADES, [Way("fused")], depth=15)
    assert measured.measures["recall@15"] == 0.0


def test_strategies_that_did_not_answer_are_counted() -> None:
    searches = Searches({"apples": ["a"], "pears": ["b"]}, degraded=[{"strategy": "words", "reason": "it is away"}])
    (measured,) = evaluate(searches, QUERIES, GRADES, [Way("fused")])
    assert measured.degraded == {("words", "it is away"): 2}


def test_what_a_search_raises_ends_the_evaluation() -> None:
    def search(body: Mapping[str, Any]) -> Mapping[str, Any]:
        raise ServiceDown("it is away")

    with pytest.raises(ServiceDown):
        evaluate(search, QUERIES, GRADES, [Way("fused")])


def test_it_is_told_after_each_query() -> None:
    told: list[int] = []
    evaluate(Searches({"apples": [], "pears": []}), QUERIES, GRADES, [Way("fused")], on_query=told.append)
    assert told == [1, 2]
