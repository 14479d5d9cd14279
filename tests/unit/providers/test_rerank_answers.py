"""Scores out of the answers of rerank endpoints."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docmill.adapters.providers.rerank_answers import are_logits, scores_of_answer, sigmoid


def item(index: object, score: object) -> dict[str, object]:
    return {"index": index, "relevance_score": score}


@pytest.mark.parametrize(
    ("items", "scores"),
    [
        ([item(2, 0.9), item(0, 0.5), item(1, 0)], [0.5, 0, 0.9]),
        ([item(1, 0.5)], [None, 0.5, None]),
        ([], [None, None, None]),
        ([item(1, 0.5), item(3, 0.9), item(-1, 0.9), item("0", 0.9), item(True, 0.9), item(None, 0.9), item(0.0, 0.9)], [None, 0.5, None]),
        ([item(1, 0.5), item(1, 0.9)], [None, 0.5, None]),
        ([item(1, math.nan), item(0, math.inf), item(2, 0.5)], [None, None, 0.5]),
        ([item(1, "0.5"), item(0, True), item(2, 0.5)], [None, None, 0.5]),
        ([item(0, None), item(1, 10**400), item(2, 0.5)], [None, None, 0.5]),
        ([item(0, -8.5), item(1, 3), item(2, 0.5)], [-8.5, 3, 0.5]),
        (["text", 7, None, {}, item(2, 0.5)], [None, None, 0.5]),
    ],
)
@pytest.mark.parametrize("key", ["results", "data"])
def test_scores_are_placed_by_index_and_what_cannot_be_used_is_passed_over(items: list[object], scores: list[object], key: str) -> None:
    assert scores_of_answer({key: items}, count=3) == scores


@pytest.mark.parametrize("answer", [None, [], "text", {}, {"results": None}, {"results": {"index": 0}}, {"error": "no"}])
def test_an_answer_of_another_form_is_refused(answer: object) -> None:
    with pytest.raises(ValueError, match="no list of results"):
        scores_of_answer(answer, count=3)


@pytest.mark.parametrize("items", [[item(3, 0.5)], [item(0, math.nan)], [{"index": 0, "score": 0.5}], ["text"]])
def test_results_of_which_none_can_be_used_are_refused(items: list[object]) -> None:
    with pytest.raises(ValueError, match="none of its results"):
        scores_of_answer({"results": items}, count=3)


@pytest.mark.parametrize(
    ("scores", "expected"), [([], False), ([None], False), ([0.0, 1.0], False), ([0.5, -0.1], True), ([0.5, None, 1.0001], True)]
)
def test_a_score_outside_of_0_to_1_shows_that_scores_are_logits(scores: list[float | None], expected: bool) -> None:
    assert are_logits(scores) is expected


@given(st.floats(allow_nan=False), st.floats(allow_nan=False))
def test_the_sigmoid_keeps_the_order_and_stays_between_0_and_1(one: float, other: float) -> None:
    low, high = sorted([one, other])
    assert 0.0 <= sigmoid(low) <= sigmoid(high) <= 1.0


def test_the_sigmoid_of_no_odds_either_way_is_one_half() -> None:
    assert sigmoid(0.0) == 0.5
