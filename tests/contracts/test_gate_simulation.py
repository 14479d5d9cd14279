"""Callers that never rest meet a provider that bears so much, for simulated minutes and hours."""

import random

import pytest

from docmill.adapters.memory.gate import MemoryGate
from docmill.adapters.redis.gate import RedisGate
from docmill.ports.gate import Limits
from docmill.testing.gate_world import SteppedClock
from support.gate_simulation import Provider, Simulation, most_within
from support.valkey_server import client_of, running_valkey

TWO_A_SECOND = 2
SEEDS = [1, 2, 3]


def simulation(seed: int, limits: Limits, **settings: object) -> Simulation:
    clock = SteppedClock()
    gate = MemoryGate(clock=clock, jitter=random.Random(seed).random)
    return Simulation(gate, clock, Provider(TWO_A_SECOND), limits, seed=seed, **settings)  # type: ignore[arg-type]  # by their names


@pytest.mark.parametrize("seed", SEEDS)
def test_with_the_providers_rate_configured_nothing_is_refused(seed: int) -> None:
    world = simulation(seed, Limits(requests_per_minute=120))
    world.run(20 * 60)
    served = world.provider.served
    assert world.provider.refused == []
    assert most_within(served, 1) == TWO_A_SECOND
    assert most_within(served, 60) <= 120
    assert len(served) > 0.9 * TWO_A_SECOND * 20 * 60


@pytest.mark.parametrize("seed", SEEDS)
def test_without_it_a_rate_is_learned_that_is_refused_once_in_several_minutes(seed: int) -> None:
    world = simulation(seed, Limits())
    started, learned = world.clock.now, world.clock.now + 5 * 60
    world.run(60 * 60)
    refused = [moment for moment in world.provider.refused if moment > learned]
    assert most_within(refused, 180) <= 1
    for begin in range(5, 60, 5):
        served = sum(1 for moment in world.provider.served if started + begin * 60 <= moment < started + (begin + 5) * 60)
        assert served > TWO_A_SECOND * 300 / 2, f"minutes {begin} to {begin + 5}"


def test_a_provider_that_begins_to_bear_less_is_left_alone_soon() -> None:
    world = simulation(1, Limits())
    world.provider.most = 20
    changes, learned = world.clock.now + 300, world.clock.now + 420
    world.provider.changes_at, world.provider.most_after = changes, TWO_A_SECOND
    world.run(1500)
    assert len([moment for moment in world.provider.refused if changes < moment <= learned]) <= 6
    assert most_within([moment for moment in world.provider.refused if moment > learned], 120) <= 1


@pytest.mark.parametrize(
    "limits", [Limits(concurrency=3), Limits(concurrency=1), Limits(requests_per_minute=120), Limits(requests_per_minute=20)], ids=str
)
def test_small_knowledge_bases_are_not_stuck_behind_a_large_one(limits: Limits) -> None:
    world = simulation(1, limits, knowledge_bases=("large",) * 20 + ("small", "tiny"))
    world.provider.most = 1000
    world.run(60)
    granted = sorted(world.granted.values())
    assert granted[0] >= 0.8 * granted[-1]


def test_a_provider_that_bears_everything_is_soon_used_to_the_full() -> None:
    world = simulation(1, Limits(), knowledge_bases=("handbook",) * 20, latency=(0.2, 0.3))
    world.provider.most = 1000
    world.run(60)
    last = [moment for moment in world.provider.served if moment > world.clock.now - 20]
    assert len(last) > 0.9 * 20 * 20 / 0.25


@pytest.mark.parametrize("limits", [Limits(), Limits(requests_per_minute=120)], ids=str)
def test_the_gate_on_a_server_lets_the_same_requests_through(limits: Limits) -> None:
    clocks = SteppedClock(), SteppedClock()
    with running_valkey() as socket, client_of(socket) as client:
        on_server = RedisGate(client, "key", jitter=lambda: 0.5, test_clock=clocks[0])
        in_memory = MemoryGate(jitter=lambda: 0.5, clock=clocks[1])
        one, other = (
            Simulation(gate, clock, Provider(TWO_A_SECOND), limits, knowledge_bases=("handbook", "handbook", "wiki"))
            for gate, clock in ((on_server, clocks[0]), (in_memory, clocks[1]))
        )
        one.run(200)
        other.run(200)
    assert one.provider == other.provider
    assert one.granted == other.granted
