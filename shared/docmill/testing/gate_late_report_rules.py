"""Rules of every gate about reports that come too late: they change nothing but their slot."""
# ruff: noqa: D102  # the name of a test says what it shows

from typing import Final

import pytest

from docmill.ports.gate import HOLDER_SECONDS, GateState, RequestOutcome
from docmill.testing.gate_world import GateWorld

_OUTCOMES: Final = list(RequestOutcome)


class LateReportRules:
    """Reports of another epoch, sent twice, or from before a flush."""

    @pytest.mark.parametrize("outcome", _OUTCOMES)
    def test_a_report_from_before_the_closing_changes_nothing_but_its_slot(self, world: GateWorld, outcome: RequestOutcome) -> None:
        refused, late = world.permit(), world.permit()
        world.gate.report(refused, RequestOutcome.RATE_LIMITED)
        closed = world.gate.status()
        world.gate.report(late, outcome, retry_after_seconds=200)
        assert world.gate.status() == closed
        world.clock.advance(16)
        assert world.permit(ceiling=1).probe

    @pytest.mark.parametrize("outcome", _OUTCOMES)
    def test_a_report_from_before_the_closing_does_not_decide_for_the_probe(self, world: GateWorld, outcome: RequestOutcome) -> None:
        refused, late = world.permit(), world.permit()
        world.gate.report(refused, RequestOutcome.RATE_LIMITED)
        world.clock.advance(16)
        world.permit("b")
        world.gate.report(late, outcome)
        assert world.gate.status().state is GateState.PROBING

    @pytest.mark.parametrize("outcome", _OUTCOMES)
    def test_a_report_from_before_the_opening_changes_nothing_but_its_slot(self, world: GateWorld, outcome: RequestOutcome) -> None:
        refused, late = world.permit(), world.permit()
        world.gate.report(refused, RequestOutcome.RATE_LIMITED)
        world.clock.advance(16)
        world.open_again()
        world.gate.report(late, outcome)
        assert world.gate.status().state is GateState.OPEN
        world.permit()
        world.wait()

    def test_closing_and_opening_raise_the_epoch(self, world: GateWorld) -> None:
        first = world.permit()
        world.gate.report(first, RequestOutcome.RATE_LIMITED)
        world.clock.advance(16)
        probe = world.permit()
        world.gate.report(probe, RequestOutcome.OK)
        assert first.epoch < probe.epoch < world.permit().epoch

    @pytest.mark.parametrize("outcome", [RequestOutcome.RATE_LIMITED, RequestOutcome.OK])
    def test_a_report_that_is_sent_twice_counts_once(self, world: GateWorld, outcome: RequestOutcome) -> None:
        world.close_and_end_window()
        probe = world.permit()
        world.gate.report(probe, outcome)
        once = world.gate.status()
        world.gate.report(probe, outcome)
        assert world.gate.status() == once

    def test_a_refusal_of_a_holder_that_was_given_up_still_closes_the_gate(self, world: GateWorld) -> None:
        permit = world.permit("slow")
        world.clock.advance(HOLDER_SECONDS + 1)
        world.permit("b")
        world.gate.report(permit, RequestOutcome.RATE_LIMITED)
        assert world.gate.status().state is GateState.CLOSED

    @pytest.mark.parametrize("outcome", _OUTCOMES)
    def test_the_epoch_outlives_a_flush(self, world: GateWorld, outcome: RequestOutcome) -> None:
        before = world.permit()
        world.clock.advance(1)
        world.flush()
        world.gate.report(before, outcome)
        after = world.permit()
        assert after.epoch > before.epoch
        world.gate.report(before, outcome)
        assert world.gate.status().state is GateState.OPEN
        world.gate.report(after, RequestOutcome.RATE_LIMITED)
        closed = world.gate.status()
        world.gate.report(before, outcome)
        assert world.gate.status() == closed

    def test_a_probe_from_before_a_flush_decides_nothing_after_it(self, world: GateWorld) -> None:
        world.close_and_end_window()
        before = world.permit()
        world.flush()
        world.close_and_end_window()
        world.permit("b")
        world.gate.report(before, RequestOutcome.OK)
        assert world.gate.status().state is GateState.PROBING
