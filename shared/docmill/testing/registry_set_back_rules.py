"""Rules of a state that another server has taken over: nothing is done in it before a new epoch."""

# ruff: noqa: D102 - the name of a test is its description

from collections.abc import Callable

import pytest

from docmill.domain.errors import StateLost, StateSetBack
from docmill.domain.generations import epoch_of
from docmill.domain.registry import Lane
from docmill.domain.runs import RunState
from docmill.testing.state_under_test import LEASE_SECONDS, SERVED, StateContract, StateUnderTest


class SetBackRules(StateContract):
    """Contract tests; see the module."""

    @pytest.fixture
    def replace_server(self, state: StateUnderTest) -> Callable[[], None]:
        if state.replace_server is None:
            pytest.skip("its servers have no identity")
        return state.replace_server

    def test_a_state_on_the_server_that_opened_it_is_not_set_back(self, fresh_state: StateUnderTest) -> None:
        assert not fresh_state.registry.position().set_back
        assert fresh_state.registry.reopen(3) is None
        fresh_state.registry.raise_epoch(1)
        assert not fresh_state.registry.position().set_back
        assert fresh_state.registry.reopen(3) is None
        assert fresh_state.registry.position().epoch == 1

    def test_no_script_of_an_attempt_does_anything_on_another_server(
        self, state: StateUnderTest, replace_server: Callable[[], None]
    ) -> None:
        live = state.commit_new("live.md")
        attempt = state.begin("a.md")
        assert state.intend(attempt)
        replace_server()
        for do in (
            lambda: state.intend(attempt),
            lambda: state.commit(attempt),
            lambda: state.ledger.finish(attempt, failed="provider: no answer"),
            lambda: state.leases.renew([attempt], LEASE_SECONDS),
            lambda: state.remove("live.md"),
        ):
            with pytest.raises(StateSetBack):
                do()
        assert state.registry.raise_epoch(0) == 2
        assert not state.has_entry("a.md")
        version = state.entry("live.md").live
        assert version is not None
        assert version.generation == live.generation

    def test_everything_but_the_position_is_refused_on_another_server(
        self, state: StateUnderTest, replace_server: Callable[[], None]
    ) -> None:
        state.commit_new("a.md")
        run, _ = state.ledger.start_run()
        before = state.registry.position()
        replace_server()
        registry, leases, ledger = state.registry, state.leases, state.ledger
        for do in (
            lambda: registry.serve("other"),
            lambda: registry.flip("other", "a"),
            lambda: registry.note("a", "b"),
            lambda: registry.noted("a"),
            lambda: registry.index_sets(),
            lambda: registry.entries(SERVED, ["a.md"]),
            lambda: registry.entries_now(SERVED, ["a.md"]),
            lambda: registry.stats(SERVED, ["a.md"]),
            lambda: list(registry.scan(SERVED)),
            lambda: registry.counts(SERVED),
            lambda: registry.due_garbage(0, 9),
            lambda: registry.unknown_generations(SERVED, [("a.md", 1)]),
            lambda: leases.expire_all(),
            lambda: leases.acquire_role("sweeper", "one", 10),
            lambda: ledger.enqueue(["a.md"], Lane.BULK),
            lambda: ledger.resend_expired(9),
            lambda: ledger.oldest_waiting(9),
            lambda: ledger.start_run(),
            lambda: ledger.complete(run.id),
            lambda: ledger.end_run(run.id, RunState.CANCELLED),
            lambda: ledger.current_run(),
        ):
            with pytest.raises(StateSetBack):
                do()
        assert registry.position() == before
        assert registry.position().set_back

    def test_what_was_paid_for_is_kept_by_a_state_that_was_set_back(
        self, state: StateUnderTest, replace_server: Callable[[], None]
    ) -> None:
        replace_server()
        state.ledger.keep_vectors({"text": [0.5]})
        state.registry.reopen(7)
        assert {text: list(vector) for text, vector in state.ledger.take_vectors(["text"]).items()} == {"text": [0.5]}

    def test_a_state_that_was_set_back_is_opened_again_once(self, state: StateUnderTest, replace_server: Callable[[], None]) -> None:
        attempt = state.begin("a.md")
        replace_server()
        assert state.registry.reopen(7) == 7
        assert state.registry.reopen(9) is None
        assert not state.registry.position().set_back
        assert state.leases.renew([attempt], LEASE_SECONDS) == [False]
        (message,) = state.ledger.resend_expired(9)
        again = state.ledger.begin(message, LEASE_SECONDS)
        assert again is not None
        assert epoch_of(again.generation) == 7

    def test_an_emptied_state_is_lost_rather_than_set_back(self, fresh_state: StateUnderTest) -> None:
        assert not fresh_state.registry.position().set_back
        with pytest.raises(StateLost):
            fresh_state.ledger.start_run()
