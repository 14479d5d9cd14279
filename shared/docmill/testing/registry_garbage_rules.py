"""Rules of garbage: what may be deleted, when, and when it is forgotten."""

# ruff: noqa: D102 - the name of a test is its description

import pytest

from docmill.domain.registry import DocumentState, Garbage
from docmill.testing.state_under_test import GRACE_SECONDS, LEASE_SECONDS, OTHER, SERVED, StateContract, StateUnderTest


class GarbageRules(StateContract):
    """Contract tests; see the module."""

    def test_a_generation_is_garbage_from_its_minting_until_its_commit(self, state: StateUnderTest) -> None:
        attempt = state.begin("a.md")
        state.shift_clock(GRACE_SECONDS)
        assert state.registry.due_garbage(GRACE_SECONDS, 9) == [Garbage("a.md", attempt.generation, None)]
        other = state.begin("b.md")
        state.commit(other)
        state.shift_clock(GRACE_SECONDS)
        assert other.generation not in state.due()

    def test_an_intent_gives_garbage_its_chunk_counts(self, state: StateUnderTest) -> None:
        attempt = state.begin("a.md")
        state.intend(attempt, words=3, sets=(SERVED, OTHER))
        state.shift_clock(GRACE_SECONDS)
        chunks = {SERVED: {"words": 3}, OTHER: {"words": 3}}
        assert state.registry.due_garbage(GRACE_SECONDS, 9) == [Garbage("a.md", attempt.generation, chunks)]

    def test_a_leased_generation_is_never_due(self, state: StateUnderTest) -> None:
        attempt = state.begin("a.md")
        state.intend(attempt)
        for _ in range(4):
            state.shift_clock(LEASE_SECONDS - 10)
            assert state.leases.renew([attempt], LEASE_SECONDS) == [True]
        assert state.due() == []
        state.shift_clock(LEASE_SECONDS)
        assert state.due() == [attempt.generation]

    def test_a_lease_spares_its_own_generation_alone(self, state: StateUnderTest) -> None:
        dead = state.begin("a.md")
        state.shift_clock(GRACE_SECONDS)
        (message,) = state.ledger.resend_expired(9)
        assert state.ledger.begin(message, 2 * GRACE_SECONDS) is not None
        assert state.due() == [dead.generation]
        state.shift_clock(GRACE_SECONDS)
        assert state.due() == [dead.generation]

    def test_a_replaced_generation_is_due_only_after_the_grace(self, state: StateUnderTest) -> None:
        first = state.commit_new("a.md", words=3)
        state.shift_clock(GRACE_SECONDS)
        state.commit_new("a.md", "f2")
        state.shift_clock(GRACE_SECONDS - 1)
        assert state.due() == []
        state.shift_clock(1)
        assert state.registry.due_garbage(GRACE_SECONDS, 9) == [Garbage("a.md", first.generation, {SERVED: {"words": 3}})]

    def test_a_live_generation_is_never_due(self, state: StateUnderTest) -> None:
        state.commit_new("a.md")
        state.shift_clock(10 * GRACE_SECONDS)
        assert state.due() == []

    @pytest.mark.parametrize("order", [(SERVED, OTHER), (OTHER, SERVED)])
    def test_a_generation_replaced_in_one_index_set_is_due_when_no_index_set_has_it_live(
        self, state: StateUnderTest, order: tuple[str, str]
    ) -> None:
        first = state.commit_new("a.md", words=2, sets=(SERVED, OTHER))
        state.commit_new("a.md", "f2", sets=order[:1])
        state.shift_clock(GRACE_SECONDS)
        assert state.due() == []
        state.commit_new("a.md", "f3", sets=order[1:])
        assert state.due() == []
        state.shift_clock(GRACE_SECONDS)
        garbage = Garbage("a.md", first.generation, {SERVED: {"words": 2}, OTHER: {"words": 2}})
        assert garbage in state.registry.due_garbage(GRACE_SECONDS, 9)
        state.registry.settle_garbage([garbage])
        assert garbage not in state.registry.due_garbage(0, 9)

    def test_what_a_gone_document_had_is_due_after_the_grace(self, state: StateUnderTest) -> None:
        live = state.commit_new("a.md", words=3)
        state.remove("a.md")
        state.shift_clock(GRACE_SECONDS)
        state.registry.forget_gone(GRACE_SECONDS, 9)
        assert state.registry.due_garbage(GRACE_SECONDS, 9) == [Garbage("a.md", live.generation, {SERVED: {"words": 3}})]

    def test_garbage_of_a_gone_commit_that_made_nothing_live_is_due(self, state: StateUnderTest) -> None:
        attempt = state.begin("a.md")
        state.commit(attempt, "", state=DocumentState.GONE)
        state.shift_clock(GRACE_SECONDS)
        assert state.registry.due_garbage(GRACE_SECONDS, 9) == [Garbage("a.md", attempt.generation, None)]

    def test_garbage_is_due_oldest_first_and_no_more_than_the_limit(self, state: StateUnderTest) -> None:
        generations = []
        for name in "abcd":
            generations.append(state.begin(name).generation)
            state.shift_clock(1)
        state.shift_clock(GRACE_SECONDS)
        assert [item.generation for item in state.registry.due_garbage(GRACE_SECONDS, 3)] == generations[:3]

    def test_what_is_not_due_does_not_use_up_the_limit(self, state: StateUnderTest) -> None:
        for name in "abc":
            attempt = state.begin(name)
            state.leases.renew([attempt], 10 * GRACE_SECONDS)
            state.shift_clock(1)
        dead = state.begin("d")
        state.shift_clock(GRACE_SECONDS)
        assert [item.generation for item in state.registry.due_garbage(GRACE_SECONDS, 1)] == [dead.generation]

    def test_deleted_garbage_waits_the_grace_and_is_deleted_again(self, state: StateUnderTest) -> None:
        attempt = state.begin("a.md")
        state.intend(attempt)
        state.shift_clock(GRACE_SECONDS)
        state.registry.settle_garbage(state.registry.due_garbage(GRACE_SECONDS, 9))
        state.shift_clock(GRACE_SECONDS - 1)
        assert state.due() == []
        state.shift_clock(1)
        (again,) = state.registry.due_garbage(GRACE_SECONDS, 9)
        assert (again.generation, again.deleted_once) == (attempt.generation, True)
        state.registry.settle_garbage([again])
        state.shift_clock(10 * GRACE_SECONDS)
        assert state.due() == []

    def test_garbage_that_wrote_nothing_is_forgotten_at_once(self, state: StateUnderTest) -> None:
        state.begin("a.md")
        state.shift_clock(GRACE_SECONDS)
        state.registry.settle_garbage(state.registry.due_garbage(GRACE_SECONDS, 9))
        state.shift_clock(10 * GRACE_SECONDS)
        assert state.due() == []

    def test_a_note_about_garbage_that_has_changed_meanwhile_is_refused(self, state: StateUnderTest) -> None:
        attempt = state.begin("a.md")
        without_counts = Garbage("a.md", attempt.generation, None)
        state.intend(attempt, words=2)
        state.registry.settle_garbage([without_counts, Garbage("a.md", attempt.generation, {SERVED: {"words": 9}})])
        state.shift_clock(GRACE_SECONDS)
        due = state.registry.due_garbage(GRACE_SECONDS, 9)
        assert due == [Garbage("a.md", attempt.generation, {SERVED: {"words": 2}})]
        state.registry.settle_garbage(due + due)
        state.shift_clock(GRACE_SECONDS)
        assert state.due() == [attempt.generation]

    def test_unknown_generations_are_neither_live_nor_leased_nor_garbage(self, state: StateUnderTest) -> None:
        replaced = state.commit_new("a.md").generation
        live = state.commit_new("a.md", "f2").generation
        leased = state.begin("b.md").generation
        known = [("a.md", replaced), ("a.md", live), ("b.md", leased)]
        assert state.registry.unknown_generations(SERVED, [*known, ("a.md", 5), ("c.md", live)]) == [("a.md", 5), ("c.md", live)]
        assert state.registry.unknown_generations(SERVED, []) == []

    def test_a_generation_is_unknown_once_its_garbage_is_forgotten(self, state: StateUnderTest) -> None:
        attempt = state.begin("a.md")
        state.shift_clock(GRACE_SECONDS)
        state.registry.settle_garbage(state.registry.due_garbage(GRACE_SECONDS, 9))
        found = [("a.md", attempt.generation)]
        assert state.registry.unknown_generations(SERVED, found) == found

    def test_a_generation_that_is_live_in_another_index_set_only_is_unknown_in_this_one(self, state: StateUnderTest) -> None:
        found = [("a.md", state.commit_new("a.md", sets=(OTHER,)).generation)]
        assert state.registry.unknown_generations(OTHER, found) == []
        assert state.registry.unknown_generations(SERVED, found) == found
