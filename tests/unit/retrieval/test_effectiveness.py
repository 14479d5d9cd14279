"""The measures, on rankings whose values are worked out by hand."""

from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docmill.retrieval.effectiveness import average_precision, fold, ndcg, recall, reciprocal_rank, relevant_documents

#: a (grade 3), b (2) and c (1) are relevant, d was judged and is not, x and y were never judged.
GRADES = {"a": 3, "b": 2, "c": 1, "d": 0}


def test_ndcg_is_the_discounted_gain_over_that_of_the_best_order() -> None:
    # gains 2, 0, 3 at ranks 1, 2, 3: 2/log2(2) + 3/log2(4) = 3.5; best order 3, 2, 1: 3 + 2/log2(3) + 1/2 = 4.76186
    assert ndcg(["b", "x", "a"], GRADES, 10) == pytest.approx(3.5 / (3 + 2 / log2(3) + 0.5))
    assert ndcg(["b", "x", "a"], GRADES, 10) == pytest.approx(0.735007, abs=1e-6)


def test_ndcg_looks_at_no_more_than_the_cutoff_in_both_orders() -> None:
    # at 2: 2/1 + 0; best two: 3/1 + 2/log2(3)
    assert ndcg(["b", "x", "a"], GRADES, 2) == pytest.approx(2 / (3 + 2 / log2(3)))


def test_a_grade_below_zero_gains_nothing_and_takes_nothing_away() -> None:
    assert ndcg(["bad", "good"], {"bad": -1, "good": 1}, 10) == pytest.approx(1 / log2(3))


def test_average_precision_is_the_mean_of_the_precisions_at_relevant_ranks() -> None:
    # relevant at ranks 1, 3 and 5: (1/1 + 2/3 + 3/5) / 3
    assert average_precision(["a", "x", "b", "d", "c"], GRADES, 100) == pytest.approx((1 + 2 / 3 + 3 / 5) / 3)


def test_what_is_relevant_and_not_found_counts_as_precision_zero() -> None:
    assert average_precision(["a", "x", "b"], GRADES, 100) == pytest.approx((1 + 2 / 3) / 3)
    assert average_precision(["a", "x", "b"], GRADES, 2) == pytest.approx(1 / 3)


def test_the_reciprocal_rank_is_that_of_the_first_relevant_document() -> None:
    assert reciprocal_rank(["x", "d", "c", "a"], GRADES, 10) == pytest.approx(1 / 3)
    assert reciprocal_rank(["x", "d", "c", "a"], GRADES, 2) == 0.0


def test_recall_is_the_part_of_what_is_relevant_that_was_found() -> None:
    assert recall(["c", "x", "a", "b"], GRADES, 3) == pytest.approx(2 / 3)
    assert recall(["c", "x", "a", "b"], GRADES, 10) == 1.0


def test_nothing_found_measures_zero() -> None:
    assert [measure([], GRADES, 10) for measure in (ndcg, average_precision, reciprocal_rank, recall)] == [0.0] * 4


@pytest.mark.parametrize("measure", [ndcg, average_precision, reciprocal_rank, recall])
def test_without_a_relevant_document_nothing_is_measured(measure: type) -> None:
    with pytest.raises(ValueError, match="not defined"):
        measure(["d"], {"d": 0}, 10)


def test_a_document_stands_where_its_best_chunk_does() -> None:
    assert fold(["b", "a", "b", "c", "a"]) == ["b", "a", "c"]


DOCUMENTS = st.sampled_from([f"d{number}" for number in range(12)])


@given(
    ranking=st.lists(DOCUMENTS, unique=True),
    grades=st.dictionaries(DOCUMENTS, st.integers(-1, 4)).filter(lambda grades: any(grade > 0 for grade in grades.values())),
    cutoff=st.integers(1, 15),
)
def test_every_measure_is_between_zero_and_one_and_the_best_order_reaches_the_most(
    ranking: list[str], grades: dict[str, int], cutoff: int
) -> None:
    best = sorted(grades, key=lambda document: -grades[document])
    for measure in (ndcg, average_precision, reciprocal_rank, recall):
        assert 0.0 <= measure(ranking, grades, cutoff) <= measure(best, grades, cutoff) + 1e-9 <= 1.0 + 2e-9
    if cutoff >= len(relevant_documents(grades)):
        assert ndcg(best, grades, cutoff) == pytest.approx(1.0)
        assert average_precision(best, grades, cutoff) == pytest.approx(1.0)
