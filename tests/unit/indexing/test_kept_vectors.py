"""The vectors that a process keeps until they are stored."""

from dataclasses import replace

import pytest

from docmill.domain.knowledge_bases import EmbeddingModelSpec
from docmill.indexing.kept_vectors import KeptVectors

SPEC = EmbeddingModelSpec("openai", "m", dimensions=2)


def test_a_kept_vector_is_found_by_its_text_and_whatever_else_decides_it() -> None:
    kept = KeptVectors()
    kept.keep(SPEC, "one", [0.1, 0.2])
    assert kept.of(SPEC, ["one", "two"]) == {"one": pytest.approx([0.1, 0.2])}
    for other in ({"model": "n"}, {"dimensions": 3}, {"base_url": "http://other"}, {"passage_prefix": "passage: "}):
        assert kept.of(replace(SPEC, **other), ["one"]) == {}
    assert kept.of(replace(SPEC, batch_size=1, max_concurrency=1), ["one"])


def test_those_that_came_first_make_room() -> None:
    kept = KeptVectors(most_bytes=16)  # two vectors of two numbers of four bytes
    for text in ("one", "two", "two", "three"):
        kept.keep(SPEC, text, [1.0, 2.0])
    assert set(kept.of(SPEC, ["one", "two", "three"])) == {"two", "three"}


def test_a_text_that_is_no_valid_unicode_is_kept_too() -> None:
    kept = KeptVectors()
    kept.keep(SPEC, "\ud800", [1.0, 2.0])
    assert kept.of(SPEC, ["\ud800"]) == {"\ud800": [1.0, 2.0]}
