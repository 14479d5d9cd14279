"""The scan of generations: each once, with what is there of it, wherever the pages end."""

from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from docmill.adapters.chunk_payload import payload_of
from docmill.adapters.generation_scan import generations_on_page
from docmill.domain.chunks import StoredGeneration, point_id_of
from docmill.testing.store_contract import chunk

Parts = dict[tuple[str, int], tuple[int, set[int]]]


@st.composite
def generations(draw: st.DrawFn) -> Parts:
    """Generations with their chunk counts and the chunks that are there, at least one of each."""
    keys = draw(st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 4)), unique=True, max_size=8))
    parts: Parts = {}
    for key in keys:
        count = draw(st.integers(1, 6))
        parts[key] = count, draw(st.sets(st.integers(0, count - 1), min_size=1))
    return parts


@given(parts=generations(), page_size=st.integers(1, 7))
def test_every_generation_is_reported_once_with_what_is_there_of_it(parts: Parts, page_size: int) -> None:
    points: dict[str, dict[str, Any]] = {}
    for (document_id, generation), (count, there) in parts.items():
        for index in there:
            record = chunk(document_id, generation, index, count=count, fingerprint=f"f:{generation}")
            points[point_id_of(document_id, generation, "dense", index)] = payload_of(record)

    def present(ids: Sequence[str]) -> set[str]:
        assert ids
        return set(ids) & points.keys()

    by_id = [points[point_id] for point_id in sorted(points)]
    pages = [by_id[begin : begin + page_size] for begin in range(0, len(by_id), page_size)]
    reported = [found for page in pages for found in generations_on_page(page, "dense", present)]
    expected = {StoredGeneration(d, g, f"f:{g}", count, len(there)) for (d, g), (count, there) in parts.items()}
    assert len(reported) == len(expected)
    assert set(reported) == expected
