"""Vectors out of answers, and one vector for several windows."""

import math

import pytest

from docmill.adapters.providers.answered_vectors import checked, field_of, in_order, indexed, mean_of_windows, of_length_one, unpacked


def test_what_stands_under_keys_is_found_and_what_does_not_is_named() -> None:
    assert field_of({"a": {"b": 5}}, "a", "b") == 5
    for answer in ({"a": {}}, {"a": 5}, [], None):
        with pytest.raises(ValueError, match=r"has no a\.b"):
            field_of(answer, "a", "b")


def test_items_are_placed_by_their_index() -> None:
    assert indexed([{"index": 1, "embedding": "b"}, {"index": 0, "embedding": "a"}], count=2) == ["a", "b"]


@pytest.mark.parametrize(
    "items",
    [
        None,
        {},
        [],
        [1, 2],
        [{"index": 0}],
        [{"index": 0}, {"index": 0}],
        [{"index": 0}, {"index": 2}],
        [{"index": 0}, {"index": -1}],
        [{"index": 0}, {"index": True}],
        [{"index": 0}, {"index": "1"}],
        [{"index": 0}, {"index": 1.0}],
        [{"index": 0}, {"index": 1}, {"index": 1}],
    ],
)
def test_items_with_other_indexes_are_refused(items: object) -> None:
    with pytest.raises(ValueError, match="the answer"):
        indexed(items, count=2)


@pytest.mark.parametrize("items", [None, {}, [], [1], [1, 2, 3]])
def test_another_number_of_vectors_is_refused(items: object) -> None:
    with pytest.raises(ValueError, match="the answer has"):
        in_order(items, count=2)


@pytest.mark.parametrize(
    "embedding",
    [
        None,
        "AAAA",
        {},
        [],
        [1.0],
        [1.0, 2.0, 3.0],
        [1.0, "2"],
        [1.0, None],
        [1.0, True],
        [0, 0.0],
        [1.0, math.nan],
        [1.0, math.inf],
        [1, 1e39],
        [1, 10**400],
    ],
)
def test_what_is_no_vector_of_that_length_is_refused(embedding: object) -> None:
    with pytest.raises(ValueError, match=r"vector|embedding"):
        checked([[1.0, 2], embedding], dimensions=2)


def test_vectors_are_kept_as_they_came() -> None:
    assert checked([[0.1, -2], [1e-30, 0]], dimensions=2) == [[0.1, -2], [1e-30, 0]]


def test_vectors_in_base64_are_unpacked_and_others_left_as_they_are() -> None:
    assert unpacked(["AACAPwAAAMA=", [3, 4], None]) == [[1.0, -2.0], [3, 4], None]


@pytest.mark.parametrize("text", ["AAAA", "AACAPwAAAEA=AACAPwAAAEA=", "AACAPwAAA", "\u00e4", "AACA PwAAAEA="])
def test_a_text_that_is_no_vector_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="an embedding is not 32-bit floats in base64"):
        unpacked([[1.0], text])


def test_vectors_are_made_one_long() -> None:
    assert of_length_one([[3.0, 4.0], [0.0, -5.0]]) == [[0.6, 0.8], [0.0, -1.0]]


def test_one_window_is_the_text() -> None:
    assert mean_of_windows([[3.0, 4.0]], [7]) == [3.0, 4.0]


def test_the_mean_points_between_its_windows_and_nearer_to_the_longer_one() -> None:
    mean = mean_of_windows([[1.0, 0.0], [0.0, 1.0]], [3, 1])
    assert mean == pytest.approx([3 / math.sqrt(10), 1 / math.sqrt(10)])


def test_the_mean_is_as_long_as_its_windows_are_on_average() -> None:
    assert math.hypot(*mean_of_windows([[4.0, 0.0], [0.0, 2.0]], [1, 1])) == pytest.approx(3.0)


def test_windows_that_cancel_each_other_out_leave_the_longest() -> None:
    assert mean_of_windows([[1.0, 0.0], [-1.0, 0.0]], [2, 2]) == [1.0, 0.0]
