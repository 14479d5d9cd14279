"""Rules of every gate about the limit that it learns: how many requests may be in flight while throughput grows with them."""
# ruff: noqa: D102  # the name of a test says what it shows

from docmill.ports.gate import LEARNING_STARTS_AT, Permit, RequestOutcome
from docmill.testing.gate_world import INSTANT_SECONDS, GateWorld


class LimitRules:
    """Where nothing is configured, and after a closing."""

    def test_without_a_configured_ceiling_learning_starts_at_three(self, world: GateWorld) -> None:
        assert len(world.permits(ceiling=None)) == LEARNING_STARTS_AT

    def test_a_configured_ceiling_is_where_a_gate_starts(self, world: GateWorld) -> None:
        assert len(world.permits(ceiling=9)) == 9

    def test_the_limit_climbs_while_throughput_climbs_with_it(self, world: GateWorld) -> None:
        limits = self._limits(world, seconds=9, most_per_round=1000)
        assert limits == sorted(limits)
        assert limits[-1] >= 10

    def test_the_limit_stays_where_more_requests_bring_no_more_throughput(self, world: GateWorld) -> None:
        limits = self._limits(world, seconds=8, most_per_round=5)
        assert max(limits) <= 7
        assert limits[-1] in (4, 5, 6)

    def test_one_more_is_tried_after_half_a_minute(self, world: GateWorld) -> None:
        self._limits(world, seconds=8, most_per_round=5)
        settled = self._limits(world, seconds=1, most_per_round=5)[-1]
        later = self._limits(world, seconds=33, most_per_round=5)
        assert max(later) == settled + 1
        assert later[-1] == settled

    def test_the_limit_does_not_climb_while_nobody_waits(self, world: GateWorld) -> None:
        for _ in range(40):
            permits = [world.permit(ceiling=None) for _ in range(LEARNING_STARTS_AT)]
            world.clock.advance(0.5)
            for permit in permits:
                world.gate.report(permit, RequestOutcome.OK)
        assert len(world.permits(ceiling=None)) == LEARNING_STARTS_AT

    def test_after_a_closing_the_limit_climbs_back_to_the_ceiling_and_no_further(self, world: GateWorld) -> None:
        world.close_and_end_window()
        world.open_again()
        limits = self._limits(world, seconds=12, most_per_round=1000, ceiling=10)
        assert limits[:6] == [1, 2, 3, 4, 5, 5]
        assert limits[-1] == 10

    def test_failures_do_not_count_as_throughput(self, world: GateWorld) -> None:
        for second in range(30):
            permits = world.permits(ceiling=None)
            assert len(permits) == LEARNING_STARTS_AT, second
            world.clock.advance(1)
            for permit in permits:
                world.gate.report(permit, RequestOutcome.FAILED)

    @staticmethod
    def _limits(world: GateWorld, *, seconds: int, most_per_round: int, ceiling: int | None = None) -> list[int]:
        """Rounds of half a second in which as many requests are answered as the provider manages; how many went into each.

        No rate binds them.
        """
        limits = []
        waiting: list[Permit] = []
        for _ in range(seconds * 2):
            waiting += world.permits(ceiling=ceiling, per_minute=1_000_000)
            limits.append(len(waiting))
            world.clock.advance(0.5 - INSTANT_SECONDS)
            for permit in waiting[:most_per_round]:
                world.gate.report(permit, RequestOutcome.OK)
            del waiting[:most_per_round]
            world.clock.advance(INSTANT_SECONDS)
        for permit in waiting:
            world.gate.report(permit, RequestOutcome.CANCELLED)
        return limits
