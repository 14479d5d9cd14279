"""Rules of every gate about runs: what they may spend, why they are aborted, and what closes the gate for them."""
# ruff: noqa: D102  # the name of a test says what it shows

from dataclasses import replace

import pytest

from docmill.ports.gate import (
    FAILURES_WITHOUT_SUCCESS,
    SLOT_POLL_SECONDS,
    GateChange,
    GateState,
    Refusal,
    RefusalKind,
    Reported,
    RequestOutcome,
)
from docmill.testing.gate_world import INSTANT_SECONDS, PROBE_LEASE_SECONDS, GateWorld


class RunRules:
    """Budgets, abort marks, failures in a row, and what a report says that it did."""

    def test_a_run_that_would_spend_more_than_it_may_is_refused(self, world: GateWorld) -> None:
        world.gate.report(world.permit(run="r", tokens=60, budget=100), RequestOutcome.OK)
        refusal = world.refusal(run="r", tokens=41, budget=100)
        assert refusal.kind is RefusalKind.BUDGET
        assert "60 of the 100 tokens" in refusal.reason
        world.permit(run="r", tokens=40, budget=100)

    def test_a_request_waits_for_those_of_its_run_that_may_come_cheaper(self, world: GateWorld) -> None:
        first = world.permit(run="r", tokens=60, budget=100)
        assert world.wait(run="r", tokens=41, budget=100) == SLOT_POLL_SECONDS
        world.refusal(run="r", tokens=101, budget=100)
        world.gate.report(first, RequestOutcome.OK, tokens=59)
        world.permit(run="r", tokens=41, budget=100)

    def test_a_budget_is_a_runs_own(self, world: GateWorld) -> None:
        world.permit(run="r", tokens=100, budget=100)
        world.permit(run="other", tokens=100, budget=100)
        world.permit(tokens=100, budget=100)
        world.permit(tokens=100, budget=100)

    def test_what_the_provider_has_counted_is_what_was_spent(self, world: GateWorld) -> None:
        world.gate.report(world.permit(run="r", tokens=90, budget=100), RequestOutcome.OK, tokens=30)
        world.gate.report(world.permit(run="r", tokens=70, budget=100), RequestOutcome.OK)
        world.refusal(run="r", tokens=1, budget=100)

    def test_what_is_answered_without_a_count_was_spent(self, world: GateWorld) -> None:
        world.gate.report(world.permit(run="r", tokens=90, budget=100), RequestOutcome.OK)
        world.refusal(run="r", tokens=11, budget=100)

    @pytest.mark.parametrize("outcome", [RequestOutcome.CANCELLED, RequestOutcome.FAILED, RequestOutcome.RATE_LIMITED])
    def test_a_request_that_came_to_nothing_gives_its_tokens_back(self, world: GateWorld, outcome: RequestOutcome) -> None:
        world.gate.report(world.permit(run="r", tokens=100, budget=100), outcome)
        world.clock.advance(20)
        world.permit(run="r", tokens=100, budget=100)

    def test_tokens_are_given_back_once(self, world: GateWorld) -> None:
        permit = world.permit(run="r", tokens=50, budget=100)
        for _ in range(3):
            world.gate.report(permit, RequestOutcome.CANCELLED)
        world.gate.report(world.permit(run="r", tokens=100, budget=100), RequestOutcome.OK)
        world.refusal(run="r", tokens=1, budget=100)

    def test_a_closed_gate_is_told_before_a_spent_budget(self, world: GateWorld) -> None:
        world.gate.report(world.permit(run="r", tokens=100, budget=100), RequestOutcome.OK)
        world.close()
        world.wait(run="r", tokens=1, budget=100)
        world.clock.advance(16)
        world.refusal(run="r", tokens=1, budget=100)
        assert world.permit(run="other").probe

    def test_an_aborted_run_gets_no_leave_and_hears_why(self, world: GateWorld) -> None:
        assert world.gate.aborted("r") is None
        world.gate.abort("r", "cancelled by Zoë")
        assert world.gate.aborted("r") == "cancelled by Zoë"
        assert world.refusal(run="r") == Refusal(RefusalKind.ABORTED, "cancelled by Zoë")
        world.permit(run="other")
        world.permit()

    def test_an_aborted_run_is_refused_while_the_gate_is_closed(self, world: GateWorld) -> None:
        world.gate.abort("r", "why")
        world.close()
        world.refusal(run="r")

    def test_the_first_reason_for_an_abort_stays(self, world: GateWorld) -> None:
        world.gate.abort("r", "first")
        world.gate.abort("r", "second")
        world.gate.report(world.permit(run="r2"), RequestOutcome.REFUSED, reason="401")
        assert world.gate.aborted("r") == "first"

    def test_what_serves_no_run_cannot_be_aborted(self, world: GateWorld) -> None:
        with pytest.raises(ValueError, match="no run"):
            world.gate.abort("", "why")

    def test_a_refused_request_aborts_its_run_and_closes_nothing(self, world: GateWorld) -> None:
        permit = world.permit(run="r")
        assert world.gate.report(permit, RequestOutcome.REFUSED, reason="401: no such key") == Reported(GateChange.NONE)
        assert world.refusal(run="r").reason == "401: no such key"
        assert world.gate.status().state is GateState.OPEN

    def test_a_refused_query_aborts_nothing(self, world: GateWorld) -> None:
        world.gate.report(world.permit(is_query=True), RequestOutcome.REFUSED, reason="401")
        world.permit()
        assert world.gate.aborted("") is None

    def test_a_refused_request_of_another_epoch_aborts_its_run_too(self, world: GateWorld) -> None:
        permit = world.permit(run="r")
        world.close()
        world.gate.report(permit, RequestOutcome.REFUSED, reason="404")
        assert world.refusal(run="r").reason == "404"

    def test_a_refused_probe_is_handed_back(self, world: GateWorld) -> None:
        world.close_and_end_window()
        world.gate.report(world.permit(run="r"), RequestOutcome.REFUSED, reason="401")
        assert world.permit(run="other").probe
        assert world.gate.status().failures == 1

    def test_failures_in_a_row_without_one_success_close_the_gate_and_abort_the_run(self, world: GateWorld) -> None:
        self._fail(world, FAILURES_WITHOUT_SUCCESS - 1, run="r")
        assert world.gate.status().state is GateState.OPEN
        assert self._fail(world, 1, run="r") == Reported(GateChange.CLOSED, 15.0)
        assert world.refusal(run="r") == Refusal(RefusalKind.ABORTED, "503 down")
        assert world.wait(run="other") == pytest.approx(15)

    def test_a_success_of_anybody_resets_the_failures_in_a_row(self, world: GateWorld) -> None:
        self._fail(world, FAILURES_WITHOUT_SUCCESS - 1, run="r")
        world.succeed(is_query=True)
        self._fail(world, FAILURES_WITHOUT_SUCCESS - 1, run="r")
        assert world.gate.status().state is GateState.OPEN
        assert world.gate.aborted("r") is None

    def test_failures_are_counted_for_each_run(self, world: GateWorld) -> None:
        for number in range(4):
            self._fail(world, FAILURES_WITHOUT_SUCCESS - 1, run=f"r{number}")
        assert world.gate.status().state is GateState.OPEN

    def test_failures_of_no_run_are_not_counted(self, world: GateWorld) -> None:
        self._fail(world, 3 * FAILURES_WITHOUT_SUCCESS)
        assert world.gate.status().state is GateState.OPEN

    def test_a_failure_that_is_sent_twice_counts_once(self, world: GateWorld) -> None:
        permit = world.permit(run="r")
        for _ in range(FAILURES_WITHOUT_SUCCESS):
            world.gate.report(permit, RequestOutcome.FAILED)
        assert world.gate.status().state is GateState.OPEN

    def test_a_report_says_what_it_did(self, world: GateWorld) -> None:
        first, late = world.permit(), world.permit()
        assert world.gate.report(first, RequestOutcome.RATE_LIMITED) == Reported(GateChange.CLOSED, 15.0)
        assert world.gate.report(late, RequestOutcome.RATE_LIMITED) == Reported(GateChange.NONE)
        world.clock.advance(16)
        assert world.gate.report(world.permit(), RequestOutcome.FAILED) == Reported(GateChange.CLOSED_AGAIN, 30.0)
        world.clock.advance(31)
        assert world.gate.report(world.permit(), RequestOutcome.OK) == Reported(GateChange.OPENED)
        assert world.gate.report(world.permit(), RequestOutcome.OK) == Reported(GateChange.NONE)
        assert world.gate.report(world.permit(per_minute=6000), RequestOutcome.RATE_LIMITED).change is GateChange.CLOSED

    def test_whoever_found_that_nothing_gets_through_may_close_the_gate(self, world: GateWorld) -> None:
        assert world.gate.close() == Reported(GateChange.CLOSED, 15.0)
        assert world.wait() == pytest.approx(15)
        assert world.gate.status().failures == 1

    def test_a_run_closes_it_only_where_its_own_requests_have_failed(self, world: GateWorld) -> None:
        world.succeed(run="r")
        self._fail(world, 1, run="other")
        assert world.gate.close(run_id="r") == Reported(GateChange.NONE)
        assert world.gate.close(run_id="unknown") == Reported(GateChange.NONE)
        assert world.gate.close(run_id="other") == Reported(GateChange.CLOSED, 15.0)

    def test_closing_has_the_wait_that_is_asked_for(self, world: GateWorld) -> None:
        world.jitter.value = 1.0
        assert world.gate.close(40) == Reported(GateChange.CLOSED, 48.0)

    def test_closing_a_closed_gate_changes_nothing(self, world: GateWorld) -> None:
        world.close()
        before = world.gate.status()
        assert world.gate.close(300) == Reported(GateChange.NONE)
        world.clock.advance(16)
        world.permit()
        assert world.gate.close() == Reported(GateChange.NONE)
        world.clock.advance(PROBE_LEASE_SECONDS + INSTANT_SECONDS)
        assert world.gate.close() == Reported(GateChange.NONE)
        assert world.gate.status() == replace(before, may_be_tried=True)

    def test_a_report_from_before_such_a_closing_changes_nothing(self, world: GateWorld) -> None:
        permit = world.permit()
        world.gate.close()
        world.gate.report(permit, RequestOutcome.RATE_LIMITED)
        assert world.gate.status().failures == 1

    @staticmethod
    def _fail(world: GateWorld, times: int, run: str = "") -> Reported:
        reported = Reported(GateChange.NONE)
        for _ in range(times):
            reported = world.gate.report(world.permit(run=run), RequestOutcome.FAILED, reason="503 down")
        return reported
