import pytest

from docmill.domain.registry import DocumentState, Entry, Position, Version
from docmill.retrieval.verify import choose_unverified, has_changed, judge

AT_TEN = Position(epoch=2, commit=10, index_set="set1")


def entry(
    live: tuple[int, int] | None, previous: tuple[int, int] | None = None, *, stat: str = "s", state: DocumentState = DocumentState.LIVE
) -> Entry:
    """An entry; versions are (generation, commit)."""
    versions = [None if one is None else Version(one[0], one[1], f"f{one[0]}") for one in (live, previous)]
    return Entry(state, versions[0], versions[1], stat=stat)


def test_the_live_generation_is_accepted_when_it_was_live_then() -> None:
    assert judge(AT_TEN, 2, {"a": entry((7, 10))}, ["a"]).accepted == {"a": 7}


def test_the_previous_generation_is_accepted_when_the_live_one_came_later() -> None:
    assert judge(AT_TEN, 2, {"a": entry((8, 11), (7, 3))}, ["a"]).accepted == {"a": 7}


def test_a_document_that_came_later_has_no_generation() -> None:
    assert judge(AT_TEN, 2, {"a": entry((8, 11))}, ["a"]).accepted == {"a": None}


def test_an_unknown_document_has_no_generation() -> None:
    assert judge(AT_TEN, 2, {}, ["a"]).accepted == {"a": None}


def test_what_is_older_than_previous_is_unsettled() -> None:
    verdict = judge(AT_TEN, 2, {"a": entry((9, 12), (8, 11)), "b": entry((5, 1))}, ["a", "b"])
    assert (verdict.accepted, verdict.unsettled) == ({"b": 5}, {"a"})


def test_entries_of_another_epoch_settle_nothing() -> None:
    verdict = judge(AT_TEN, 3, {"a": entry((7, 3))}, ["a", "b"])
    assert (verdict.accepted, verdict.unsettled) == ({}, {"a", "b"})


def test_without_the_registry_the_last_known_generation_is_chosen_else_the_highest() -> None:
    found = {"known": [4, 5, 6], "swept": [8, 9], "new": [2, 3]}
    assert choose_unverified(found, {"known": 5, "swept": 7}) == {"known": 5, "swept": 9, "new": 3}


def test_a_file_with_its_known_stat_has_not_changed() -> None:
    assert not has_changed(entry((7, 3), stat="s"), 7, "s")


def test_a_file_with_another_stat_or_none_has_changed() -> None:
    assert has_changed(entry((7, 3), stat="s"), 7, "t")
    assert has_changed(entry((7, 3), stat="s"), 7, None)


def test_an_unknown_stat_says_nothing() -> None:
    assert not has_changed(entry((7, 3), stat=""), 7, "t")


def test_a_replaced_generation_has_changed() -> None:
    assert has_changed(entry((8, 11), (7, 3), stat="s"), 7, "s")


@pytest.mark.parametrize("state", [DocumentState.FAILED, DocumentState.QUARANTINED])
def test_a_document_whose_last_attempt_failed_has_changed(state: DocumentState) -> None:
    assert has_changed(entry((7, 3), stat="s", state=state), 7, "s")
