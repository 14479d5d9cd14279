"""Fusion is a law: the same lists in any order give the same hits."""

import math
import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docmill.domain.errors import ConfigurationError
from docmill.domain.knowledge_bases import Fusion, FusionKind
from docmill.domain.searching import Candidate
from docmill.retrieval.fuse import check_weights, deduplicate, fuse, interleave, one_per_document
from support.library import record_of

RRF = Fusion(FusionKind.RRF)
WEIGHTED = Fusion(FusionKind.WEIGHTED, weights={"bm25": 0.3, "dense": 0.7})
MAX = Fusion(FusionKind.MAX)
ALL_KINDS = [RRF, WEIGHTED, MAX]


def ranked(strategy: str, *found: tuple[str, float]) -> list[Candidate]:
    """Candidates of one-chunk documents, best first."""
    return [Candidate(strategy, rank, score, record_of(document)) for rank, (document, score) in enumerate(found, start=1)]


@st.composite
def candidate_lists(draw: st.DrawFn) -> list[Candidate]:
    """Lists of up to three strategies over few documents and chunks, with ties, negative and equal scores."""
    candidates = []
    for strategy in draw(st.sets(st.sampled_from(["bm25", "dense", "other"]))):
        pieces = draw(st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 2)), unique=True, max_size=8))
        scores = sorted(
            draw(st.lists(st.sampled_from([-1.0, -0.2, 0.0, 0.5, 0.5, 3.25, 40.0]), min_size=len(pieces), max_size=len(pieces)))
        )
        for rank, ((document, index), score) in enumerate(zip(pieces, reversed(scores), strict=True), start=1):
            candidates.append(Candidate(strategy, rank, score, record_of(document, index, f"text {index % 2}", start_line=index + 1)))
    return candidates


@given(candidate_lists(), st.sampled_from(ALL_KINDS), st.randoms())
def test_the_order_of_candidates_and_strategies_does_not_matter(candidates: list[Candidate], fusion: Fusion, order: random.Random) -> None:
    fusion = replace(fusion, weights={"bm25": 0.3, "dense": 0.7, "other": 0.1})
    shuffled = candidates[:]
    order.shuffle(shuffled)
    assert fuse(shuffled, fusion) == fuse(candidates, fusion)


@given(candidate_lists(), st.sampled_from([RRF, MAX]))
def test_every_piece_comes_once_and_nothing_is_lost(candidates: list[Candidate], fusion: Fusion) -> None:
    hits = fuse(candidates, fusion)
    pieces = [(hit.record.document_id, hit.record.start_line) for hit in hits]
    assert len(set(pieces)) == len(pieces)
    assert set(pieces) == {(one.record.document_id, one.record.start_line) for one in candidates}
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


@given(candidate_lists())
def test_a_hit_of_rrf_has_the_sum_of_its_reciprocal_ranks(candidates: list[Candidate]) -> None:
    for hit in fuse(candidates, RRF):
        ranks = [one.rank for one in candidates if one.record == hit.record]
        assert math.isclose(hit.score, sum(1 / (60 + rank) for rank in ranks))
        assert sorted(trace.rank for trace in hit.strategies.values()) == sorted(ranks)


@given(candidate_lists())
def test_weighted_scores_stay_between_zero_and_the_sum_of_weights(candidates: list[Candidate]) -> None:
    weights = {"bm25": 0.5, "dense": 0.25, "other": 0.25}
    for hit in fuse(candidates, Fusion(FusionKind.WEIGHTED, weights=weights)):
        assert 0.0 <= hit.score <= 1.0
        assert math.isclose(hit.score, sum(trace.contribution for trace in hit.strategies.values()))


def test_rrf_by_hand() -> None:
    hits = fuse(ranked("bm25", ("a", 9.0), ("b", 8.0)) + ranked("dense", ("b", 0.9), ("c", 0.1)), RRF)
    assert [(hit.record.document_id, hit.score) for hit in hits] == [("b", 1 / 61 + 1 / 62), ("a", 1 / 61), ("c", 1 / 62)]


def test_rrf_uses_the_configured_k() -> None:
    (hit,) = fuse(ranked("bm25", ("a", 9.0)), Fusion(FusionKind.RRF, k=9))
    assert hit.score == 0.1


def test_weighted_by_hand() -> None:
    hits = fuse(ranked("bm25", ("a", 30.0), ("b", 20.0), ("c", 10.0)) + ranked("dense", ("c", 0.9), ("b", 0.5)), WEIGHTED)
    assert {hit.record.document_id: hit.score for hit in hits} == {"a": 0.3, "b": 0.15, "c": 0.7}


@pytest.mark.parametrize("scores", [(5.0,), (5.0, 5.0), (-0.3,), (-0.3, -0.3), (0.0, 0.0)])
def test_equal_scores_count_fully_under_weighted(scores: tuple[float, ...]) -> None:
    hits = fuse(ranked("bm25", *((f"d{n}", score) for n, score in enumerate(scores))), WEIGHTED)
    assert [hit.score for hit in hits] == [0.3] * len(scores)


def test_negative_scores_are_normalised_under_weighted() -> None:
    hits = fuse(ranked("dense", ("a", -0.1), ("b", -0.5)), WEIGHTED)
    assert [(hit.record.document_id, hit.score) for hit in hits] == [("a", 0.7), ("b", 0.0)]


def test_max_takes_the_highest_own_score_and_never_clamps() -> None:
    hits = fuse(ranked("bm25", ("a", 17.5), ("b", 0.2)) + ranked("dense", ("b", 0.9), ("a", 0.8)), MAX)
    assert [(hit.record.document_id, hit.score) for hit in hits] == [("a", 17.5), ("b", 0.9)]


def test_a_missing_weight_is_a_configuration_error() -> None:
    with pytest.raises(ConfigurationError, match="no weight for other"):
        fuse(ranked("other", ("a", 1.0)), WEIGHTED)
    with pytest.raises(ConfigurationError, match="no weight for other"):
        check_weights(WEIGHTED, ["bm25", "other"])
    check_weights(RRF, ["other"])


def test_ties_are_ordered_by_document_then_index() -> None:
    found = [("b", 1), ("a", 10), ("a", 2)]
    candidates = [
        Candidate(strategy, 1, 1.0, record_of(document, index, f"{document}{index}", start_line=index))
        for strategy, (document, index) in zip(["x", "y", "z"], found, strict=True)
    ]
    assert [(hit.record.document_id, hit.record.index) for hit in fuse(candidates, RRF)] == [("a", 2), ("a", 10), ("b", 1)]


def test_strategies_with_other_chunking_meet_in_the_same_piece() -> None:
    of_words = Candidate("bm25", 1, 7.0, record_of("a", 4, "the same", start_line=9))
    of_vectors = Candidate("dense", 2, 0.7, record_of("a", 1, "the same", start_line=9))
    (hit,) = fuse([of_vectors, of_words], RRF)
    assert hit.record.index == 4, "the best placed chunk stands for both"
    assert {name: trace.rank for name, trace in hit.strategies.items()} == {"bm25": 1, "dense": 2}


def test_equal_text_at_two_places_is_two_hits_until_deduplicated() -> None:
    places = [Candidate("bm25", rank, 1.0, record_of("a", rank, "again", start_line=rank * 10)) for rank in (1, 2)]
    hits = fuse(places, RRF)
    assert [hit.record.index for hit in hits] == [1, 2]
    assert [hit.record.index for hit in deduplicate(hits)] == [1]


def test_equal_text_of_two_documents_is_kept() -> None:
    hits = fuse(ranked("bm25", ("copy/a", 2.0), ("a", 1.0)), RRF)
    assert [hit.record.document_id for hit in deduplicate(hits)] == ["copy/a", "a"]


def test_one_per_document_keeps_the_best() -> None:
    candidates = [Candidate("bm25", rank, 1.0, record_of("a", rank, f"text {rank}", start_line=rank)) for rank in (1, 2)]
    assert [hit.record.index for hit in one_per_document(fuse(candidates, RRF))] == [1]


def test_nothing_fuses_to_nothing() -> None:
    assert [fuse([], fusion) for fusion in ALL_KINDS] == [[], [], []]


def test_knowledge_bases_take_turns() -> None:
    lists = {
        "news": fuse(ranked("bm25", ("n1", 90.0), ("n2", 80.0), ("n3", 70.0)), MAX),
        "books": fuse(ranked("bm25", ("b1", 1.0)), MAX),
    }
    assert [(name, hit.record.document_id) for name, hit in interleave(lists, 3)] == [("books", "b1"), ("news", "n1"), ("news", "n2")]
