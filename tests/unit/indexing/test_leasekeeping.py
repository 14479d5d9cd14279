"""Leases are renewed while their attempts go on, and a lost one is noticed and never revived."""

import pytest

from docmill.domain.errors import StoreDown
from docmill.domain.registry import Attempt, Lane
from docmill.indexing.leasekeeping import LeaseKeeper
from support.failing import Failing
from support.indexing_world import World
from support.waiting import wait_until

TTL, INTERVAL = 30.0, 5.0


@pytest.fixture
def world() -> World:
    return World()


def begin(world: World, document_id: str) -> Attempt:
    (message,) = world.state.ledger.enqueue([document_id], Lane.BULK)
    attempt = world.state.ledger.begin(message, TTL)
    assert attempt is not None
    return attempt


def is_held(world: World, attempt: Attempt) -> bool:
    return world.state.leases.renew([attempt], TTL) == [True]


def test_a_renewed_lease_outlives_its_time_to_live(world: World) -> None:
    attempt = begin(world, "a.md")
    world.keeper.hold(attempt)
    for _ in range(20):
        world.clock.now += INTERVAL
        world.keeper.renew_all()
    assert is_held(world, attempt)
    assert not world.keeper.is_lost(attempt)


def test_a_lease_that_ran_out_is_lost_and_stays_so(world: World) -> None:
    attempt = begin(world, "a.md")
    world.keeper.hold(attempt)
    world.clock.now += TTL + 1
    world.keeper.renew_all()
    world.keeper.renew_all()
    assert world.keeper.is_lost(attempt)
    assert not is_held(world, attempt)


def test_a_lease_is_lost_when_the_epoch_is_raised(world: World) -> None:
    attempt = begin(world, "a.md")
    world.keeper.hold(attempt)
    world.state.registry.raise_epoch(2)
    world.keeper.renew_all()
    assert world.keeper.is_lost(attempt)


def test_all_leases_of_a_state_that_was_set_back_are_lost(world: World) -> None:
    attempt = begin(world, "a.md")
    world.keeper.hold(attempt)
    world.memory.replace_server()
    world.keeper.renew_all()
    assert world.keeper.is_lost(attempt)


def test_an_attempt_of_a_later_epoch_ends_those_of_earlier_ones(world: World) -> None:
    earlier = begin(world, "a.md")
    world.keeper.hold(earlier)
    world.state.registry.raise_epoch(2)
    later = begin(world, "b.md")
    world.keeper.hold(later)
    assert (world.keeper.is_lost(earlier), world.keeper.is_lost(later)) == (True, False)


def test_one_lost_lease_does_not_touch_the_others(world: World) -> None:
    lost = begin(world, "a.md")
    world.keeper.hold(lost)
    world.clock.now += TTL + 1
    kept = begin(world, "b.md")
    world.keeper.hold(kept)
    world.keeper.renew_all()
    assert (world.keeper.is_lost(lost), world.keeper.is_lost(kept)) == (True, False)


def test_what_was_let_go_is_renewed_no_longer(world: World) -> None:
    attempt = begin(world, "a.md")
    world.keeper.hold(attempt)
    world.keeper.let_go(attempt)
    for _ in range(7):
        world.clock.now += INTERVAL
        world.keeper.renew_all()
    assert not world.keeper.is_lost(attempt)
    assert not is_held(world, attempt)


def test_a_silent_registry_loses_no_lease_that_can_still_be_renewed(world: World) -> None:
    leases = Failing(world.state.leases)
    keeper = LeaseKeeper(lambda _: leases, ttl_seconds=TTL, interval_seconds=INTERVAL)
    attempt = begin(world, "a.md")
    keeper.hold(attempt)
    leases.fail("renew", StoreDown("no answer"))
    keeper.renew_all()
    assert not keeper.is_lost(attempt)
    leases.mend()
    world.clock.now += TTL - 1
    keeper.renew_all()
    world.clock.now += TTL - 1
    assert is_held(world, attempt)


def test_all_leases_of_a_knowledge_base_are_renewed_in_one_step(world: World) -> None:
    leases = Failing(world.state.leases)
    keeper = LeaseKeeper(lambda _: leases, ttl_seconds=TTL, interval_seconds=INTERVAL)
    for number in range(3):
        keeper.hold(begin(world, f"{number}.md"))
    keeper.renew_all()
    assert leases.calls == ["renew"]


def test_the_thread_renews_until_it_is_stopped(world: World) -> None:
    leases = Failing(world.state.leases)
    keeper = LeaseKeeper(lambda _: leases, ttl_seconds=TTL, interval_seconds=0.001)
    keeper.hold(begin(world, "a.md"))
    keeper.start()
    wait_until(lambda: len(leases.calls) > 2, "three renewals")
    keeper.stop()
    renewals = len(leases.calls)
    keeper.stop()
    assert len(leases.calls) == renewals


def test_when_the_process_stops_every_lease_counts_as_lost(world: World) -> None:
    attempt = begin(world, "a.md")
    world.keeper.hold(attempt)
    world.keeper.stop()
    assert world.keeper.is_lost(attempt)
