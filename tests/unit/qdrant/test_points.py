"""Points and how many go into one request."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from qdrant_client import models

from docmill.adapters.chunk_payload import record_of
from docmill.adapters.qdrant.points import MAX_BYTES, MAX_POINTS, batches, checked_numbers, checked_vector, point_of
from docmill.domain.errors import StoreRejected, WrongDimension
from docmill.testing.store_contract import chunk

AWKWARD = st.text(alphabet=st.sampled_from('a"\\\n\x00é日😀'), max_size=40)


def points(texts: list[str], dimensions: int) -> list[models.PointStruct]:
    vector = np.linspace(-1e-9, 1.0, dimensions, dtype=np.float32).tolist()
    return [point_of(chunk("dossier/é.md", index=place, text=text), "dense", "dense", vector) for place, text in enumerate(texts)]


def size_of(part: list[models.PointStruct]) -> int:
    return len(models.PointsList(points=part).model_dump_json(exclude_none=True))


def test_three_hundred_chunks_of_3072_numbers_with_text_go_in_requests_below_the_servers_limit() -> None:
    made = points(["Ein langer Text mit ä und \\ und \n. " * 120] * 300, 3072)
    parts = list(batches(made, 3072))
    assert [point.id for part in parts for point in part] == [point.id for point in made]
    assert size_of(made) > 16 * 2**20
    assert max(map(size_of, parts)) <= MAX_BYTES


def test_small_points_are_bounded_by_their_number() -> None:
    assert [len(part) for part in batches(points(["a"] * (2 * MAX_POINTS + 1), 3), 3)] == [MAX_POINTS, MAX_POINTS, 1]


def test_a_point_that_is_larger_than_a_request_goes_alone() -> None:
    made = points(["a", "x" * MAX_BYTES, "b"], 3)
    assert [len(part) for part in batches(made, 3)] == [1, 1, 1]


@settings(max_examples=40)
@given(texts=st.lists(AWKWARD, min_size=1, max_size=12))
def test_no_part_is_larger_than_the_bound_whatever_its_texts(texts: list[str]) -> None:
    for part in batches(points([text * 20_000 for text in texts], 8), 8):
        assert len(part) == 1 or size_of(part) <= MAX_BYTES


def test_points_are_taken_one_request_at_a_time() -> None:
    taken = []

    def made() -> object:
        for point in points(["a"] * (3 * MAX_POINTS), 3):
            taken.append(point.id)
            yield point

    next(batches(made(), 3))  # type: ignore[arg-type]
    assert len(taken) == MAX_POINTS + 1


@given(text=AWKWARD, headings=st.lists(AWKWARD, max_size=2).map(tuple))
def test_a_chunk_comes_back_from_its_payload_through_json(text: str, headings: tuple[str, ...]) -> None:
    record = chunk("a/b.md", 2**53 - 1, 0, text, headings=headings, vector=None)
    point = point_of(record, "dense", "dense", [1.0])
    assert record_of(json.loads(json.dumps(point.payload))) == record


def test_a_vector_of_another_length_is_refused_with_both_lengths() -> None:
    with pytest.raises(WrongDimension, match=r"'handbook' has 3 dimensions, a vector of 2"):
        checked_numbers([1.0, 2.0], "handbook", 3, "the query")


@pytest.mark.parametrize("number", [float("nan"), float("inf"), 1e300])
def test_a_vector_with_a_number_that_the_server_cannot_keep_is_rejected(number: float) -> None:
    with pytest.raises(StoreRejected, match=r"a\.md#0 holds a number that is not finite"):
        checked_vector(chunk(vector=[1.0, number, 0.0]), "handbook", 3)
