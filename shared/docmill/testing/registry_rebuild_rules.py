"""Rules of rebuilding: how entries that were found in the stores become a lost registry's."""

# ruff: noqa: D102 - the name of a test is its description

import pytest

from docmill.domain.errors import StateLost
from docmill.domain.generations import make_generation
from docmill.domain.registry import DocumentState, Entry, Lane, Version
from docmill.ports.registry import REBUILD_ROLE
from docmill.testing.state_under_test import OTHER, SERVED, StateContract, StateUnderTest

HOLDER, TTL_SECONDS = "host-1:7", 60.0


def found(generation: int, *, words: int = 2, marked: bool = False, fingerprint: str = "f1") -> Entry:
    """An entry as the stores show it."""
    return Entry(
        DocumentState.LIVE, Version(generation, 0, fingerprint, {"words": words}), stat="" if marked else "1.2", size_bytes=9, marked=marked
    )


def role_of(state: StateUnderTest, holder: str = HOLDER) -> int:
    """The token of the role that lets its holder rebuild."""
    token = state.leases.acquire_role(REBUILD_ROLE, holder, TTL_SECONDS)
    assert token is not None
    return token


class RebuildRules(StateContract):
    """Contract tests; see the module."""

    def test_what_was_adopted_is_live_once_the_state_is_opened(self, fresh_state: StateUnderTest) -> None:
        registry = fresh_state.registry
        entries = [("a.md", found(make_generation(3, 5))), ("b|c.md", found(make_generation(3, 6), marked=True, words=3))]
        assert registry.adopt(SERVED, entries, role_of(fresh_state))
        registry.serve(SERVED)
        assert registry.raise_epoch(4) == 4
        assert registry.entries(SERVED, ["a.md", "b|c.md"]) == (4, dict(entries))
        assert registry.counts(SERVED) == ({DocumentState.LIVE: 2}, {"words": 5})
        assert registry.stats(SERVED, ["a.md", "b|c.md"]) == ["1.2", ""]
        assert [name for name, _ in registry.page(SERVED, after="", limit=9, state=None)] == ["a.md", "b|c.md"]
        assert registry.unknown_generations(SERVED, [("a.md", make_generation(3, 5))]) == []

    def test_a_better_find_takes_the_place_of_the_one_before(self, fresh_state: StateUnderTest) -> None:
        token = role_of(fresh_state)
        assert fresh_state.registry.adopt(SERVED, [("a.md", found(make_generation(1, 1), words=7))], token)
        better = found(make_generation(1, 2))
        assert fresh_state.registry.adopt(SERVED, [("a.md", better)], token)
        assert fresh_state.entry("a.md") == better
        assert fresh_state.registry.counts(SERVED) == ({DocumentState.LIVE: 1}, {"words": 2})

    def test_each_index_set_gets_its_own(self, fresh_state: StateUnderTest) -> None:
        token = role_of(fresh_state)
        for index_set in (SERVED, OTHER):
            assert fresh_state.registry.adopt(index_set, [("a.md", found(make_generation(1, 1)))], token)
        assert fresh_state.registry.index_sets() == sorted([SERVED, OTHER])

    def test_nothing_is_adopted_by_an_open_state(self, state: StateUnderTest) -> None:
        assert not state.registry.adopt(SERVED, [("a.md", found(1))], role_of(state))
        assert not state.has_entry("a.md")

    def test_nothing_is_adopted_without_the_role(self, fresh_state: StateUnderTest) -> None:
        assert not fresh_state.registry.adopt(SERVED, [("a.md", found(1))], 1)
        late = role_of(fresh_state)
        fresh_state.shift_clock(TTL_SECONDS + 1)
        assert not fresh_state.registry.adopt(SERVED, [("a.md", found(1))], late)
        token = role_of(fresh_state, "host-2:8")
        assert not fresh_state.registry.adopt(SERVED, [("a.md", found(1))], late)
        assert not fresh_state.has_entry("a.md")
        assert fresh_state.registry.adopt(SERVED, [("a.md", found(1))], token)

    def test_adopting_nothing_says_whether_something_could_be_adopted(self, fresh_state: StateUnderTest) -> None:
        assert not fresh_state.registry.adopt(SERVED, [], 1)
        assert fresh_state.registry.adopt(SERVED, [], role_of(fresh_state))
        fresh_state.registry.raise_epoch(1)
        assert not fresh_state.registry.adopt(SERVED, [], role_of(fresh_state))

    def test_nothing_is_minted_while_entries_are_adopted(self, fresh_state: StateUnderTest) -> None:
        assert fresh_state.registry.adopt(SERVED, [("a.md", found(1))], role_of(fresh_state))
        with pytest.raises(StateLost):
            fresh_state.ledger.enqueue(["a.md"], Lane.BULK)

    def test_a_state_that_is_not_open_calls_no_generation_unknown(self, fresh_state: StateUnderTest) -> None:
        assert fresh_state.registry.adopt(SERVED, [("a.md", found(1))], role_of(fresh_state))
        with pytest.raises(StateLost):
            fresh_state.registry.unknown_generations(SERVED, [("b.md", 2)])
        fresh_state.registry.raise_epoch(1)
        assert fresh_state.registry.unknown_generations(SERVED, [("b.md", 2)]) == [("b.md", 2)]

    def test_an_adopted_version_is_replaced_by_the_next_attempt(self, fresh_state: StateUnderTest) -> None:
        adopted = found(make_generation(3, 5), marked=True)
        assert fresh_state.registry.adopt(SERVED, [("a.md", adopted)], role_of(fresh_state))
        fresh_state.registry.serve(SERVED)
        fresh_state.registry.raise_epoch(4)
        attempt = fresh_state.commit_new("a.md", "f2", words=4)
        entry = fresh_state.entry("a.md")
        assert entry.live is not None
        assert (entry.live.generation, entry.previous, entry.marked) == (attempt.generation, adopted.live, False)
        assert fresh_state.registry.counts(SERVED) == ({DocumentState.LIVE: 1}, {"words": 4})
        fresh_state.shift_clock(61)
        assert fresh_state.due() == [make_generation(3, 5)]
