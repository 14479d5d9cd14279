"""Rules of epochs: what a new one ends, and what may be done before the first."""

# ruff: noqa: D102 - the name of a test is its description

import pytest

from docmill.domain.errors import StoreDown
from docmill.domain.generations import epoch_of
from docmill.domain.registry import Lane, TaskMessage
from docmill.testing.state_under_test import LEASE_SECONDS, SERVED, StateContract, StateUnderTest


class EpochRules(StateContract):
    """Contract tests; see the module."""

    def test_nothing_is_minted_before_the_first_epoch(self, fresh_state: StateUnderTest) -> None:
        with pytest.raises(StoreDown, match="never opened"):
            fresh_state.ledger.enqueue(["a.md"], Lane.BULK)
        with pytest.raises(StoreDown, match="never opened"):
            fresh_state.ledger.begin(TaskMessage("handbook", "a.md", 1), LEASE_SECONDS)
        with pytest.raises(StoreDown, match="never opened"):
            fresh_state.ledger.start_run()

    def test_a_role_can_be_taken_before_the_first_epoch(self, fresh_state: StateUnderTest) -> None:
        assert fresh_state.leases.acquire_role("producer", "host-1", 10) is not None

    def test_an_epoch_rises_by_one_and_at_least_to_what_is_asked(self, fresh_state: StateUnderTest) -> None:
        assert fresh_state.registry.raise_epoch(0) == 1
        assert fresh_state.registry.raise_epoch(1) == 2
        assert fresh_state.registry.raise_epoch(7) == 7
        assert fresh_state.registry.raise_epoch(3) == 8
        assert fresh_state.registry.position().epoch == 8

    def test_generations_rise_within_an_epoch_and_over_epochs(self, state: StateUnderTest) -> None:
        generations = [state.commit_new("a.md").generation, state.commit_new("b.md").generation]
        state.registry.raise_epoch(1_000_000)
        generations += [state.commit_new("a.md").generation, state.commit_new("a.md").generation]
        assert generations == sorted(set(generations))
        assert [epoch_of(generation) for generation in generations] == [1, 1, 1_000_000, 1_000_000]
        assert generations[-1] < 2**53
        live, previous = state.entry("a.md").live, state.entry("a.md").previous
        assert live is not None
        assert previous is not None
        assert [previous.generation, live.generation] == generations[2:]

    def test_an_attempt_of_an_older_epoch_changes_nothing(self, state: StateUnderTest) -> None:
        attempt = state.begin("a.md")
        state.registry.raise_epoch(0)
        assert not state.intend(attempt)
        assert not state.commit(attempt).committed
        assert not state.ledger.finish(attempt, failed="provider: no answer").committed
        assert state.leases.renew([attempt], LEASE_SECONDS) == [False]
        assert not state.has_entry("a.md")
        assert state.ledger.outstanding() == (0, 1)

    def test_what_had_begun_in_an_older_epoch_is_sent_again(self, state: StateUnderTest) -> None:
        attempt = state.begin("a.md")
        state.registry.raise_epoch(0)
        (message,) = state.ledger.resend_expired(10)
        assert message.ticket == attempt.ticket
        again = state.ledger.begin(message, LEASE_SECONDS)
        assert again is not None
        assert again.generation > attempt.generation
        assert state.commit(again).committed

    def test_a_change_during_an_attempt_of_an_older_epoch_is_not_lost(self, state: StateUnderTest) -> None:
        state.begin("a.md")
        state.registry.raise_epoch(0)
        assert state.ledger.enqueue(["a.md"], Lane.LIVE) == []
        assert [message.document_id for message in state.ledger.resend_expired(10)] == ["a.md"]

    def test_a_ticket_of_one_epoch_is_never_one_of_another(self, state: StateUnderTest) -> None:
        (old,) = state.ledger.enqueue(["a.md"], Lane.BULK)
        state.registry.raise_epoch(0)
        (new,) = state.ledger.enqueue(["b.md"], Lane.BULK)
        assert new.ticket > old.ticket

    def test_what_was_live_stays_live_in_a_new_epoch(self, state: StateUnderTest) -> None:
        attempt = state.commit_new("a.md")
        state.registry.raise_epoch(0)
        epoch, entries = state.registry.entries(SERVED, ["a.md"])
        live = entries["a.md"].live
        assert live is not None
        assert (epoch, live.generation, state.registry.position().commit) == (2, attempt.generation, 1)
