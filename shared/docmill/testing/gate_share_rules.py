"""Rules of every gate about knowledge bases that share a provider, and about queries, which wait for nobody."""
# ruff: noqa: D102  # the name of a test says what it shows

import pytest

from docmill.ports.gate import SLOT_POLL_SECONDS, Permit, RequestOutcome, Wait
from docmill.testing.gate_world import INSTANT_SECONDS, GateWorld


class ShareRules:
    """Shares, turns and ceilings."""

    def test_a_knowledge_base_that_asks_alone_has_all_slots(self, world: GateWorld) -> None:
        assert len(world.permits(kb="large", ceiling=8)) == 8

    def test_a_ceiling_is_one_knowledge_bases_and_the_gate_has_the_largest(self, world: GateWorld) -> None:
        assert len(world.permits(kb="small", ceiling=3)) == 3
        assert len(world.permits(kb="large", ceiling=8)) == 5

    def test_no_knowledge_base_exceeds_its_own_ceiling(self, world: GateWorld) -> None:
        world.permit(kb="large", ceiling=8)
        assert len(world.permits(kb="small", ceiling=2)) == 2

    def test_a_knowledge_base_at_its_ceiling_does_not_keep_slots_from_others(self, world: GateWorld) -> None:
        world.permits(kb="small", ceiling=2)
        large = world.permits(kb="large", ceiling=8)
        world.wait(kb="small", ceiling=2)
        world.gate.report(large.pop(), RequestOutcome.OK)
        world.permit(kb="large", ceiling=8)

    def test_busy_knowledge_bases_come_to_equal_shares(self, world: GateWorld) -> None:
        large = world.permits(kb="large", ceiling=8)
        small: list[Permit] = []
        while large and len(large) + len(small) <= 8 and len(small) < 4:
            world.wait(kb="small", ceiling=8)
            world.gate.report(large.pop(), RequestOutcome.OK)
            world.wait(kb="large", ceiling=8)
            small.append(world.permit(kb="small", ceiling=8))
        world.wait(kb="small", ceiling=8)
        world.wait(kb="large", ceiling=8)
        world.gate.report(small.pop(), RequestOutcome.OK)
        world.wait(kb="large", ceiling=8)
        world.permit(kb="small", ceiling=8)
        assert len(large) == 4

    def test_slots_that_nobody_else_waits_for_are_not_left_idle(self, world: GateWorld) -> None:
        world.permit(kb="small", ceiling=8)
        assert len(world.permits(kb="large", ceiling=8)) == 7

    def test_with_fewer_slots_than_knowledge_bases_they_take_turns(self, world: GateWorld) -> None:
        names = ["a", "b", "c", "d", "e"]
        assert self._turns(world, names, rounds=15, ceiling=1) == names * 3

    def test_where_the_rate_is_scarce_they_take_turns_however_often_one_asks(self, world: GateWorld) -> None:
        turns = self._turns(world, ["large"] * 5 + ["small", "tiny"], rounds=12, ceiling=50, per_minute=60)
        assert [turns.count(name) for name in ("large", "small", "tiny")] == [4, 4, 4]

    def test_where_tokens_are_scarce_a_large_request_is_not_passed_for_ever(self, world: GateWorld) -> None:
        for _ in range(3):
            world.permit(kb="small", tokens=300, tokens_per_minute=1000)
            world.clock.advance(1)
        granted = False
        for _ in range(70):
            world.gate.heartbeat("a")
            granted = granted or isinstance(world.ask(kb="large", tokens=900, tokens_per_minute=1000), Permit)
            if not granted:
                world.wait(kb="small", tokens=100, tokens_per_minute=1000)
            world.clock.advance(1)
        assert granted

    def test_a_knowledge_base_that_has_not_asked_for_two_seconds_has_no_share(self, world: GateWorld) -> None:
        world.succeed(kb="done", ceiling=8)
        world.clock.advance(2.5)
        for _ in range(3):
            world.permit(kb="small", ceiling=8)
        large = world.permits(kb="large", ceiling=8)
        world.wait(kb="small", ceiling=8)
        world.gate.report(large.pop(), RequestOutcome.OK)
        world.wait(kb="large", ceiling=8)
        world.permit(kb="small", ceiling=8)

    def test_whoever_was_told_to_wait_long_has_its_turn_when_it_comes_back(self, world: GateWorld) -> None:
        world.succeed(kb="first", per_minute=12)
        world.wait(kb="second", per_minute=12)
        world.wait(kb="first", per_minute=12)
        world.clock.advance(5)
        world.wait(kb="first", per_minute=12)
        world.permit(kb="second", per_minute=12)

    def test_whoever_does_not_come_when_told_loses_the_turn(self, world: GateWorld) -> None:
        permit = world.permit(kb="here", ceiling=1)
        world.wait(kb="gone", ceiling=1)
        world.gate.report(permit, RequestOutcome.OK)
        world.wait(kb="here", ceiling=1)
        world.clock.advance(SLOT_POLL_SECONDS + 0.2 + INSTANT_SECONDS)
        world.permit(kb="here", ceiling=1)

    def test_a_query_waits_for_no_slot_and_for_no_turn(self, world: GateWorld) -> None:
        world.permit(kb="large", ceiling=1)
        world.wait(kb="small", ceiling=1)
        world.permit(kb="large", ceiling=1, is_query=True)
        world.permit(kb="large", ceiling=1, is_query=True)

    def test_a_query_waits_while_the_gate_is_closed(self, world: GateWorld) -> None:
        world.close()
        answer = world.ask(is_query=True)
        assert getattr(answer, "closed", None) is True

    def test_a_query_may_be_the_probe(self, world: GateWorld) -> None:
        world.close_and_end_window()
        assert world.permit(is_query=True).probe
        world.wait(is_query=True)

    def test_a_query_does_not_make_its_knowledge_base_busy(self, world: GateWorld) -> None:
        world.permit(kb="asked", ceiling=8, is_query=True)
        assert len(world.permits(kb="large", ceiling=8)) == 7

    @pytest.mark.parametrize("others", [1, 4])
    def test_knowledge_bases_on_one_credential_share_the_wait(self, world: GateWorld, others: int) -> None:
        world.gate.report(world.permit(kb="first"), RequestOutcome.RATE_LIMITED)
        for number in range(others):
            assert world.wait(kb=f"other {number}") == pytest.approx(15)

    @staticmethod
    def _turns(world: GateWorld, askers: list[str], *, rounds: int, ceiling: int, per_minute: int | None = None) -> list[str]:
        """Who is granted, when everybody asks as soon as it may, in this order, and a request takes an eighth of a second."""
        turns: list[str] = []
        in_flight: list[tuple[float, Permit]] = []
        asks_at = dict.fromkeys(range(len(askers)), world.clock.now)
        while len(turns) < rounds:
            for number, name in enumerate(askers):
                if asks_at[number] > world.clock.now:
                    continue
                answer = world.ask(name, kb=name, ceiling=ceiling, per_minute=per_minute)
                if isinstance(answer, Permit):
                    turns.append(name)
                    in_flight.append((world.clock.now + 0.125, answer))
                    asks_at[number] += 0.125
                elif isinstance(answer, Wait):
                    asks_at[number] = world.clock.now + answer.seconds
            world.clock.advance(SLOT_POLL_SECONDS)
            for ends, permit in list(in_flight):
                if ends <= world.clock.now:
                    world.gate.report(permit, RequestOutcome.OK)
                    in_flight.remove((ends, permit))
        return turns[:rounds]
