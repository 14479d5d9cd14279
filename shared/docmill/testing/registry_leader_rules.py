"""Rules of the producer that leads: what it writes under a role that is not its own any more is refused."""

# ruff: noqa: D102 - the name of a test is its description

import pytest

from docmill.domain.errors import NotLeader
from docmill.domain.registry import Lane
from docmill.domain.runs import RunState
from docmill.ports.ledger import RunLedger
from docmill.ports.registry import PRODUCER_ROLE
from docmill.testing.state_under_test import StateContract, StateUnderTest

_TTL_SECONDS = 10.0


class LeaderRules(StateContract):
    """Contract tests; see the module."""

    def test_the_leader_plans_and_runs_as_everybody_does(self, state: StateUnderTest) -> None:
        _, led = _leader(state, "one")
        run, new = led.start_run()
        assert new
        (message,) = led.enqueue(["a.md"], Lane.BULK, run_id=run.id)
        led.count(run.id, {"seen": 1})
        led.scan_ended(run.id)
        assert not led.complete(run.id)
        attempt = state.ledger.begin(message, 30)
        assert attempt is not None
        assert state.commit(attempt).committed
        assert led.complete(run.id)
        ended = led.run(run.id)
        assert ended is not None
        assert ended.counters["seen"] == 1

    def test_nothing_is_written_under_a_role_that_another_producer_took_over(self, state: StateUnderTest) -> None:
        _, led = _leader(state, "one")
        run, _ = led.start_run()
        state.shift_clock(_TTL_SECONDS)
        _, next_led = _leader(state, "two")
        _refused(led, run.id)
        assert state.ledger.outstanding() == (0, 0)
        assert next_led.current_run() == run
        assert len(next_led.enqueue(["a.md"], Lane.BULK, run_id=run.id)) == 1

    def test_nothing_is_written_under_a_role_that_ran_out(self, state: StateUnderTest) -> None:
        token, led = _leader(state, "one")
        run, _ = led.start_run()
        state.shift_clock(_TTL_SECONDS)
        _refused(led, run.id)
        again, _ = _leader(state, "one")
        assert again > token
        _refused(led, run.id)

    def test_nothing_is_written_under_a_role_that_was_given_up(self, state: StateUnderTest) -> None:
        token, led = _leader(state, "one")
        run, _ = led.start_run()
        state.leases.release_role(PRODUCER_ROLE, token)
        _refused(led, run.id)

    def test_a_role_that_is_prolonged_goes_on_leading(self, state: StateUnderTest) -> None:
        token, led = _leader(state, "one")
        state.shift_clock(_TTL_SECONDS - 1)
        assert state.leases.acquire_role(PRODUCER_ROLE, "one", _TTL_SECONDS) == token
        state.shift_clock(_TTL_SECONDS - 1)
        assert len(led.enqueue(["a.md"], Lane.LIVE)) == 1

    def test_the_token_of_another_role_leads_nothing(self, state: StateUnderTest) -> None:
        token = state.leases.acquire_role("sweeper", "one", _TTL_SECONDS)
        assert token is not None
        _refused(state.ledger.led_by(token), "1-1")

    def test_who_does_not_lead_can_ask_for_runs_and_push_documents(self, state: StateUnderTest) -> None:
        _leader(state, "one")
        assert state.ledger.start_run()[1]
        assert len(state.ledger.enqueue(["a.md"], Lane.LIVE)) == 1

    def test_all_roles_can_be_let_run_out_at_once(self, state: StateUnderTest) -> None:
        token, _ = _leader(state, "one")
        state.leases.expire_all()
        again, _ = _leader(state, "two")
        assert again > token


def _leader(state: StateUnderTest, holder: str) -> tuple[int, RunLedger]:
    token = state.leases.acquire_role(PRODUCER_ROLE, holder, _TTL_SECONDS)
    assert token is not None
    return token, state.ledger.led_by(token)


def _refused(led: RunLedger, run_id: str) -> None:
    for do in (
        lambda: led.enqueue(["a.md"], Lane.BULK, run_id=run_id),
        lambda: led.enqueue(["a.md"], Lane.LIVE),
        lambda: led.count(run_id, {"seen": 1}),
        lambda: led.back_off(run_id, 1_900_000_000.0),
        lambda: led.scan_ended(run_id),
        lambda: led.complete(run_id),
        lambda: led.end_run(run_id, RunState.FAILED, "why"),
        lambda: led.resend_expired(9),
        lambda: led.wants_another_pass(run_id),
        lambda: led.start_run(),
    ):
        with pytest.raises(NotLeader):
            do()
