"""Rules of every gate about its window: how long it stays closed, and how a probe opens it."""
# ruff: noqa: D102  # the name of a test says what it shows

from typing import Final

import pytest

from docmill.ports.gate import HOLDER_SECONDS, GateState, RequestOutcome
from docmill.testing.gate_world import INSTANT_SECONDS, PROBE_LEASE_SECONDS, GateWorld

_OUTCOMES: Final = list(RequestOutcome)


class WindowRules:
    """Waiting, probing and opening."""

    @pytest.mark.parametrize("outcome", [RequestOutcome.OK, RequestOutcome.FAILED, RequestOutcome.CANCELLED])
    def test_only_a_refusal_closes_an_open_gate(self, world: GateWorld, outcome: RequestOutcome) -> None:
        permit = world.permit()
        world.gate.report(permit, outcome)
        assert world.gate.status().state is GateState.OPEN
        assert world.permit().epoch == permit.epoch

    @pytest.mark.parametrize("jitter", [0.0, 0.5, 1.0])
    def test_persisting_refusals_double_the_wait_up_to_five_minutes(self, world: GateWorld, jitter: float) -> None:
        world.jitter.value = jitter
        waits = []
        for failures in range(1, 9):
            waits.append(world.close())
            assert world.gate.status().failures == failures
            assert world.gate.status().opens_at == pytest.approx(world.clock.now + waits[-1], abs=1e-5)
            world.clock.advance(waits[-1] + INSTANT_SECONDS)
        assert waits == pytest.approx([seconds * (1 + 0.2 * jitter) for seconds in (15, 30, 60, 120, 240, 300, 300, 300)])

    @pytest.mark.parametrize(("asked", "seconds"), [(1, 1), (0.25, 0.25), (45.5, 45.5), (300, 300), (3600, 300)])
    def test_what_the_provider_asks_for_overrides_the_wait(self, world: GateWorld, asked: float, seconds: float) -> None:
        assert world.close(asked) == pytest.approx(seconds)

    def test_what_the_provider_asks_for_gets_the_same_jitter(self, world: GateWorld) -> None:
        world.jitter.value = 1.0
        assert world.close(10) == pytest.approx(12)

    @pytest.mark.parametrize("asked", [0.0, -5.0, float("nan"), float("inf"), float("-inf"), 1.7e9])
    def test_what_the_provider_cannot_mean_is_not_believed(self, world: GateWorld, asked: float) -> None:
        world.close_and_end_window()
        assert world.close(asked) == pytest.approx(30)

    def test_nothing_is_granted_after_a_refusal_was_reported(self, world: GateWorld) -> None:
        world.gate.report(world.permit(), RequestOutcome.RATE_LIMITED)
        for holder in ("a", "b", "c"):
            assert world.wait(holder) == pytest.approx(15)
        assert world.gate.status().state is GateState.CLOSED

    def test_the_gate_never_opens_early(self, world: GateWorld) -> None:
        world.clock.advance(world.close() - INSTANT_SECONDS)
        assert world.wait() == pytest.approx(INSTANT_SECONDS, abs=1e-5)
        assert not world.gate.status().may_be_tried
        world.clock.advance(2 * INSTANT_SECONDS)
        assert world.permit().probe

    def test_when_the_window_ends_one_request_probes_and_the_others_wait(self, world: GateWorld) -> None:
        world.close_and_end_window()
        assert (world.gate.status().state, world.gate.status().may_be_tried) == (GateState.CLOSED, True)
        assert world.permit("a").probe
        assert (world.gate.status().state, world.gate.status().may_be_tried) == (GateState.PROBING, False)
        for holder in ("a", "b", "c"):
            assert world.wait(holder) <= PROBE_LEASE_SECONDS

    def test_a_probe_that_succeeds_opens_the_gate(self, world: GateWorld) -> None:
        world.close_and_end_window()
        world.open_again()
        assert world.gate.status().state is GateState.OPEN
        assert world.gate.status().failures == 0
        assert not world.permit().probe

    def test_after_an_opening_the_wait_starts_at_fifteen_seconds_again(self, world: GateWorld) -> None:
        for _ in range(3):
            world.close_and_end_window()
        world.open_again()
        assert world.close() == pytest.approx(15)

    @pytest.mark.parametrize("outcome", [RequestOutcome.RATE_LIMITED, RequestOutcome.FAILED])
    def test_a_probe_that_does_not_succeed_closes_the_gate_again(self, world: GateWorld, outcome: RequestOutcome) -> None:
        world.close_and_end_window()
        world.gate.report(world.permit(), outcome)
        assert world.wait() == pytest.approx(30)
        assert world.gate.status().failures == 2

    def test_a_failing_probe_may_say_how_long_to_wait(self, world: GateWorld) -> None:
        world.close_and_end_window()
        world.gate.report(world.permit(), RequestOutcome.FAILED, retry_after_seconds=7)
        assert world.wait() == pytest.approx(7)

    def test_a_cancelled_probe_is_handed_back(self, world: GateWorld) -> None:
        world.close_and_end_window()
        world.gate.report(world.permit("a"), RequestOutcome.CANCELLED)
        assert world.permit("b").probe
        assert world.gate.status().failures == 1

    def test_a_killed_prober_is_replaced_after_its_lease(self, world: GateWorld) -> None:
        world.close_and_end_window()
        world.permit("killed")
        world.clock.advance(PROBE_LEASE_SECONDS - INSTANT_SECONDS)
        assert world.wait("b") == pytest.approx(INSTANT_SECONDS, abs=1e-5)
        world.clock.advance(2 * INSTANT_SECONDS)
        assert world.gate.status().state is GateState.CLOSED
        assert world.permit("b").probe

    @pytest.mark.parametrize("outcome", _OUTCOMES)
    def test_a_prober_that_was_replaced_decides_nothing(self, world: GateWorld, outcome: RequestOutcome) -> None:
        world.close_and_end_window()
        late = world.permit("late")
        world.clock.advance(PROBE_LEASE_SECONDS + INSTANT_SECONDS)
        second = world.permit("b")
        world.gate.report(late, outcome)
        assert world.gate.status().state is GateState.PROBING
        world.wait("c")
        world.gate.report(second, RequestOutcome.OK)
        assert world.gate.status().state is GateState.OPEN

    def test_a_probe_waits_for_a_slot_like_any_request(self, world: GateWorld) -> None:
        first, second = world.permit(ceiling=2), world.permit(ceiling=2)
        third = world.permit("b", ceiling=3)
        world.gate.report(first, RequestOutcome.RATE_LIMITED)
        for _ in range(4):
            world.clock.advance(HOLDER_SECONDS / 2)
            world.gate.heartbeat("a")
            world.gate.heartbeat("b")
        world.wait(ceiling=2)
        world.gate.report(second, RequestOutcome.OK)
        assert world.permit(ceiling=2).probe
        world.gate.report(third, RequestOutcome.OK)
