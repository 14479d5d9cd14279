"""Packed forms of the registry: what is packed comes back, in one canonical form."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docmill.adapters.redis.packing import (
    LETTER_OF,
    pack_chunks,
    pack_commit,
    pack_counts,
    pack_entry,
    pack_garbage,
    pack_name,
    unpack_chunks,
    unpack_counts,
    unpack_entry,
    unpack_garbage,
    unpack_name,
)
from docmill.domain.registry import Attempt, Commit, DocumentState, Entry, Garbage, Lane, Version

names = st.text(min_size=1)
counts = st.dictionaries(names, st.integers(0, 2**40), max_size=4)
chunks = st.dictionaries(names, counts, max_size=3)
document_ids = st.text(min_size=1).filter(lambda name: "\n" not in name)


def attempt() -> Attempt:
    return Attempt("handbook", "a|b.md", 2**33 + 1, 2**52 + 1, Lane.BULK, "1-1", 1)


@given(names)
def test_a_packed_name_has_no_separator_and_comes_back(name: str) -> None:
    assert not set(pack_name(name)) & set("|:;=,\n ")
    assert unpack_name(pack_name(name)) == name


@given(counts)
def test_counts_come_back(value: dict[str, int]) -> None:
    assert unpack_counts(pack_counts(value)) == value


@given(chunks)
def test_chunks_come_back_and_their_order_does_not_matter(value: dict[str, dict[str, int]]) -> None:
    backwards = {name: dict(reversed(of_set.items())) for name, of_set in reversed(value.items())}
    assert unpack_chunks(pack_chunks(value)) == value
    assert pack_chunks(backwards) == pack_chunks(value)


@given(document_ids, st.integers(1, 2**53 - 1), st.none() | chunks, st.booleans())
def test_garbage_comes_back(document_id: str, generation: int, value: dict[str, dict[str, int]] | None, deleted_once: bool) -> None:
    garbage = Garbage(document_id, generation, value, deleted_once)
    packed = pack_garbage(garbage).encode()
    assert unpack_garbage(packed) == garbage
    assert pack_garbage(unpack_garbage(packed)).encode() == packed


def test_an_entry_is_read_with_both_versions_and_any_reason() -> None:
    packed = b"F|1.2.3.4|7|1|9007199254740991|5|ab12|bm25=3,my%20words=0|8589934593|4|cd34||kind: why | so\nnow"
    live = Version(2**53 - 1, 5, "ab12", {"bm25": 3, "my words": 0})
    previous = Version(2**33 + 1, 4, "cd34", {})
    assert unpack_entry(packed) == Entry(DocumentState.FAILED, live, previous, "1.2.3.4", "kind: why | so\nnow", 7, True)


@given(st.sampled_from(sorted(LETTER_OF)), st.none() | counts, st.none() | counts, st.text(), st.booleans())
def test_an_entry_comes_back(
    state: DocumentState, live: dict[str, int] | None, previous: dict[str, int] | None, reason: str, marked: bool
) -> None:
    versions = [None if of_version is None else Version(2**53 - 1, 5, "ab12", of_version) for of_version in (live, previous)]
    entry = Entry(state, versions[0], versions[1], "1.2.3.4", reason, 7, marked)
    assert unpack_entry(pack_entry(entry).encode()) == entry


@pytest.mark.parametrize("committed_at", [None, 0, 1_796_110_000])
def test_when_a_version_became_live_comes_back(committed_at: int | None) -> None:
    entry = Entry(DocumentState.LIVE, Version(2**33 + 1, 5, "ab12", {"bm25": 1}, committed_at))
    read = unpack_entry(pack_entry(entry).encode())
    assert read.live is not None
    assert (read.live.commit, read.live.committed_at) == (5, committed_at)


def test_an_entry_without_versions_is_read() -> None:
    assert unpack_entry(b"F||0|0|||||||||kind: why") == Entry(DocumentState.FAILED, None, reason="kind: why")


@pytest.mark.parametrize("separator", ["|", "\n", ";"])
@pytest.mark.parametrize("field", ["stat", "fingerprint"])
def test_a_commit_whose_stored_fields_hold_a_separator_is_refused(field: str, separator: str) -> None:
    fields = {"stat": "1.2.3.4", "fingerprint": "ab12", field: f"1{separator}2"}
    commit = Commit(attempt(), DocumentState.LIVE, fields["fingerprint"], {"one": {"bm25": 1}}, stat=fields["stat"])
    with pytest.raises(ValueError, match="not a stat signature or fingerprint"):
        pack_commit(commit)


def test_a_commit_raises_the_counter_of_its_state_beside_its_own() -> None:
    commit = Commit(attempt(), DocumentState.SKIPPED, "f", {"one": {}}, reason="too_large: 3 GB", counters={"tokens": 2})
    assert pack_commit(commit).split("\n")[9] == "skipped.too_large=1,tokens=2"
