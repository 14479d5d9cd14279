"""Rules of every gate about the rate and the tokens: what is configured is kept, and what is not is learned."""
# ruff: noqa: D102  # the name of a test says what it shows

import pytest

from docmill.ports.gate import RequestOutcome, Wait
from docmill.testing.gate_world import INSTANT_SECONDS, GateWorld

_LATE_SECONDS = 0.25


class RateRules:
    """Requests per second and minute, tokens per minute, and the learned rate."""

    def test_a_minute_sees_no_more_requests_than_configured(self, world: GateWorld) -> None:
        for _ in range(120):
            world.gate.report(world.permit(per_minute=120), RequestOutcome.OK)
            world.clock.advance(0.5)
        world.clock.advance(-_LATE_SECONDS)
        assert world.wait(per_minute=120) == pytest.approx(_LATE_SECONDS)
        world.clock.advance(_LATE_SECONDS)
        world.permit(per_minute=120)

    def test_a_request_in_flight_counts_in_the_minute_for_as_long_as_it_may_still_arrive(self, world: GateWorld) -> None:
        slow = world.permit(per_minute=1)
        world.clock.advance(45)
        world.gate.heartbeat("a")
        world.gate.report(slow, RequestOutcome.OK)
        world.clock.advance(60 - INSTANT_SECONDS)
        assert world.wait(per_minute=1) == pytest.approx(INSTANT_SECONDS, abs=1e-5)
        world.clock.advance(INSTANT_SECONDS)
        world.permit(per_minute=1)

    def test_a_second_sees_its_share_of_the_minute(self, world: GateWorld) -> None:
        permits = world.permits(ceiling=10, per_minute=240)
        assert len(permits) == 4

    def test_a_request_counts_in_the_second_until_one_second_after_its_answer(self, world: GateWorld) -> None:
        permit = world.permit(per_minute=60)
        assert world.wait(per_minute=60) == pytest.approx(1)
        world.clock.advance(_LATE_SECONDS)
        world.gate.report(permit, RequestOutcome.OK)
        world.clock.advance(1 - INSTANT_SECONDS)
        assert world.wait(per_minute=60) == pytest.approx(INSTANT_SECONDS, abs=1e-5)
        world.clock.advance(INSTANT_SECONDS)
        world.permit(per_minute=60)

    def test_a_slow_request_counts_in_the_second_for_one_and_a_half_at_most(self, world: GateWorld) -> None:
        world.permit(per_minute=60)
        world.clock.advance(1.25)
        assert world.wait(per_minute=60) == pytest.approx(0.25)
        world.clock.advance(0.25)
        world.permit(per_minute=60)

    def test_requests_of_a_rate_below_one_a_second_are_spread_over_the_minute(self, world: GateWorld) -> None:
        world.succeed(per_minute=12)
        assert world.wait(per_minute=12) == pytest.approx(5)
        world.clock.advance(5)
        world.permit(per_minute=12)

    def test_the_rate_is_shared_by_knowledge_bases_and_holders(self, world: GateWorld) -> None:
        world.permit("a", kb="handbook", per_minute=60)
        world.wait("b", kb="wiki", per_minute=60)

    def test_the_rate_binds_a_query_too(self, world: GateWorld) -> None:
        world.permit(per_minute=60)
        assert world.wait(per_minute=60, is_query=True) > 0

    def test_whoever_waits_for_the_rate_does_not_hear_that_the_gate_is_closed(self, world: GateWorld) -> None:
        world.permit(per_minute=60)
        answer = world.ask(per_minute=60)
        assert isinstance(answer, Wait)
        assert not answer.closed

    def test_a_minute_sees_no_more_tokens_than_configured(self, world: GateWorld) -> None:
        world.permit(tokens=600, tokens_per_minute=1000)
        world.permit(tokens=400, tokens_per_minute=1000)
        world.wait(tokens=1, tokens_per_minute=1000)
        world.clock.advance(59.5)
        world.gate.heartbeat("a")
        assert world.wait(tokens=1, tokens_per_minute=1000) <= 1.5
        world.clock.advance(1.5)
        world.permit(tokens=1000, tokens_per_minute=1000)

    def test_a_query_is_told_how_long_tokens_will_be_missing(self, world: GateWorld) -> None:
        world.permit(tokens=600, tokens_per_minute=1000)
        world.clock.advance(10)
        world.permit(tokens=400, tokens_per_minute=1000)
        assert world.wait(tokens=500, tokens_per_minute=1000, is_query=True) == pytest.approx(50, abs=1)
        assert world.wait(tokens=700, tokens_per_minute=1000, is_query=True) == pytest.approx(60, abs=1)

    def test_a_request_of_more_tokens_than_a_minute_has_goes_when_nothing_else_does(self, world: GateWorld) -> None:
        world.permit(tokens=1, tokens_per_minute=1000)
        world.wait(tokens=5000, tokens_per_minute=1000)
        world.clock.advance(61)
        world.permit(tokens=5000, tokens_per_minute=1000)
        world.wait(tokens=1, tokens_per_minute=1000)

    def test_what_the_provider_has_counted_takes_the_place_of_what_was_granted(self, world: GateWorld) -> None:
        permit = world.permit(tokens=1000, tokens_per_minute=1000)
        world.gate.report(permit, RequestOutcome.OK, tokens=300)
        world.permit(tokens=700, tokens_per_minute=1000)
        world.wait(tokens=1, tokens_per_minute=1000)

    def test_after_a_refusal_the_rate_is_0_7_of_the_successes_of_the_last_second(self, world: GateWorld) -> None:
        self._serve(world, times=40, every=0.1)
        world.close_and_end_window()
        world.open_again()
        assert world.wait() == pytest.approx(1 / 7)

    def test_few_successes_are_counted_over_five_seconds(self, world: GateWorld) -> None:
        self._serve(world, times=12, every=0.5)
        world.close_and_end_window()
        world.open_again()
        assert world.wait() == pytest.approx(1 / (0.7 * 9 / 5))

    def test_the_learned_rate_is_one_in_five_seconds_at_least(self, world: GateWorld) -> None:
        world.succeed()
        world.clock.advance(4.5)
        world.close_and_end_window()
        world.open_again()
        assert world.wait() == pytest.approx(5)

    def test_a_first_refusal_without_any_success_teaches_no_rate(self, world: GateWorld) -> None:
        world.close_and_end_window()
        world.open_again()
        world.permit()

    def test_a_refused_probe_teaches_no_rate(self, world: GateWorld) -> None:
        self._serve(world, times=40, every=0.1)
        world.close_and_end_window()
        for _ in range(5):
            world.clock.advance(world.close() + INSTANT_SECONDS)
        world.open_again()
        assert world.wait() == pytest.approx(1 / 7)

    def test_a_refusal_before_any_success_lowers_the_rate_that_was_learned(self, world: GateWorld) -> None:
        self._serve(world, times=40, every=0.1)
        world.close_and_end_window()
        world.open_again()
        world.clock.advance(10)
        world.close_and_end_window()
        world.open_again()
        assert world.wait() == pytest.approx(1 / (0.7 * 7))

    def test_the_learned_rate_rises_by_a_tenth_after_each_quiet_minute(self, world: GateWorld) -> None:
        self._serve(world, times=40, every=0.1)
        world.close_and_end_window()
        world.open_again()
        rates = [1 / world.wait()]
        for _ in range(3):
            world.clock.advance(59)
            world.succeed()
            rates.append(1 / world.wait())
            world.clock.advance(1)
            world.succeed()
            rates.append(1 / world.wait())
        raised = [7, 7, 7.7, 7.7, 8.47, 8.47, 9.317]
        assert rates == pytest.approx(raised, rel=1e-4)

    def test_time_without_requests_raises_the_learned_rate_once(self, world: GateWorld) -> None:
        self._serve(world, times=40, every=0.1)
        world.close_and_end_window()
        world.open_again()
        world.clock.advance(3600)
        world.succeed()
        assert 1 / world.wait() == pytest.approx(7.7)

    def test_the_learned_rate_is_forgotten_when_for_ten_minutes_slots_alone_were_waited_for(self, world: GateWorld) -> None:
        self._serve(world, times=40, every=0.1)
        world.close_and_end_window()
        world.open_again()
        world.clock.advance(10)
        slow = world.permit(ceiling=1)
        for _ in range(130):
            world.clock.advance(5)
            world.wait(ceiling=1)
        world.gate.report(slow, RequestOutcome.OK)
        world.succeed(ceiling=1)
        world.permit(ceiling=1)

    def test_a_configured_rate_takes_the_place_of_the_learned_one(self, world: GateWorld) -> None:
        self._serve(world, times=40, every=0.1)
        world.close_and_end_window()
        world.open_again()
        world.permit(per_minute=6000)

    @staticmethod
    def _serve(world: GateWorld, *, times: int, every: float) -> None:
        for _ in range(times):
            world.succeed()
            world.clock.advance(every)
