"""Rules of every gate about permits: how many requests may be in flight, and whose they are."""
# ruff: noqa: D102  # the name of a test says what it shows

from typing import Final

import pytest

from docmill.ports.gate import HOLDER_SECONDS, SLOT_POLL_SECONDS, GateState, RequestOutcome
from docmill.testing.gate_world import INSTANT_SECONDS, Asked, GateWorld

_OUTCOMES: Final = list(RequestOutcome)


class PermitRules:
    """Bounds, slots, heartbeats and the limit that climbs."""

    def test_a_new_gate_is_open(self, world: GateWorld) -> None:
        assert world.gate.status().state is GateState.OPEN
        assert world.gate.status().failures == 0
        assert world.gate.status().opens_at is None
        assert not world.permit().probe

    def test_requests_in_flight_are_bounded_over_all_holders(self, world: GateWorld) -> None:
        permits = [world.permit(holder, ceiling=3) for holder in ("a", "b", "a")]
        assert len({permit.slot for permit in permits}) == 3
        world.wait("b", ceiling=3)
        world.permit("b", ceiling=4)

    @pytest.mark.parametrize("name", ["ceiling", "per_minute", "tokens_per_minute"])
    def test_a_limit_below_one_is_refused(self, world: GateWorld, name: str) -> None:
        asked: Asked = {name: 0}  # type: ignore[misc]  # one of its names
        with pytest.raises(ValueError, match="ceiling of 0"):
            world.ask(**asked)

    @pytest.mark.parametrize("outcome", _OUTCOMES)
    def test_a_report_frees_the_slot(self, world: GateWorld, outcome: RequestOutcome) -> None:
        permit = world.permit(ceiling=1)
        world.gate.report(permit, outcome)
        world.clock.advance(1000)
        world.permit(ceiling=1)

    def test_after_an_opening_the_limit_restarts_at_one_and_climbs_to_half_of_what_it_was(self, world: GateWorld) -> None:
        world.close_and_end_window()
        world.open_again()
        limits = []
        for _ in range(6):
            permits = world.permits(ceiling=10)
            limits.append(len(permits))
            for permit in permits:
                world.gate.report(permit, RequestOutcome.OK)
        assert limits == [1, 2, 3, 4, 5, 5]

    def test_the_limit_does_not_climb_while_it_is_not_used(self, world: GateWorld) -> None:
        world.close_and_end_window()
        world.open_again()
        for _ in range(10):
            world.gate.report(world.permit(), RequestOutcome.OK)
        permits = [world.permit(), world.permit()]
        world.wait()
        assert len(permits) == 2

    @pytest.mark.parametrize("outcome", [RequestOutcome.FAILED, RequestOutcome.CANCELLED])
    def test_the_limit_climbs_on_success_alone(self, world: GateWorld, outcome: RequestOutcome) -> None:
        world.close_and_end_window()
        world.open_again()
        world.gate.report(world.permit(), outcome)
        world.permit()
        world.wait()

    def test_a_refusal_after_climbing_makes_the_limit_restart_at_one(self, world: GateWorld) -> None:
        world.close_and_end_window()
        world.open_again()
        for _ in range(3):
            world.succeed()
        world.close_and_end_window()
        world.open_again()
        world.permit(per_minute=6000)
        assert world.wait(per_minute=6000) == SLOT_POLL_SECONDS

    def test_a_success_that_is_sent_twice_climbs_once(self, world: GateWorld) -> None:
        world.close_and_end_window()
        world.open_again()
        permit = world.permit()
        world.gate.report(permit, RequestOutcome.OK)
        second = [world.permit(), world.permit()]
        world.gate.report(permit, RequestOutcome.OK)
        world.wait()
        assert len(second) == 2

    def test_slots_of_a_holder_without_heartbeat_come_back(self, world: GateWorld) -> None:
        world.permit("killed", ceiling=2)
        world.permit("alive", ceiling=2)
        world.clock.advance(HOLDER_SECONDS - INSTANT_SECONDS)
        world.gate.heartbeat("alive")
        world.wait("b", ceiling=2)
        world.clock.advance(2 * INSTANT_SECONDS)
        world.permit("b", ceiling=2)
        world.wait("b", ceiling=2)

    def test_a_heartbeat_keeps_slots_for_as_long_as_it_is_sent(self, world: GateWorld) -> None:
        world.permit("alive", ceiling=1)
        for _ in range(20):
            world.clock.advance(HOLDER_SECONDS / 2)
            world.gate.heartbeat("alive")
            world.wait("b", ceiling=1)

    def test_asking_for_a_permit_is_a_heartbeat_too(self, world: GateWorld) -> None:
        world.permit("alive", ceiling=1)
        for _ in range(5):
            world.clock.advance(HOLDER_SECONDS / 2)
            world.wait("alive", ceiling=1)
