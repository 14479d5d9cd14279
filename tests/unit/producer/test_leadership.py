"""Who leads a knowledge base: taken, prolonged, lost and given up; state and clock are the twins in memory."""

import threading
from dataclasses import replace

import pytest

from docmill.domain.errors import NotLeader, StoreDown
from docmill.domain.registry import Lane
from docmill_services.producer.leadership import TTL_SECONDS, Leadership, Term
from support.failing import Failing
from support.indexing_world import World


@pytest.fixture
def world() -> World:
    return World()


def test_one_of_two_leads_until_its_role_runs_out(world: World) -> None:
    one, two = Leadership("kb", world.state, "one"), Leadership("kb", world.state, "two")
    led = one.take()
    assert led is not None
    assert two.take() is None
    world.clock.now += TTL_SECONDS - 1
    assert one.take() is led
    world.clock.now += TTL_SECONDS - 1
    assert two.take() is None
    world.clock.now += 2
    assert two.take() is not None
    with pytest.raises(NotLeader):
        led.ledger.enqueue(["a.md"], Lane.LIVE)
    assert one.take() is None
    assert one.led is None


def test_a_role_that_ran_out_is_taken_again_as_another_term(world: World) -> None:
    leadership = Leadership("kb", world.state, "one")
    led = leadership.take()
    assert led is not None
    term = Term(leadership, led, threading.Event())
    assert not term.is_set()
    world.clock.now += TTL_SECONDS
    with pytest.raises(NotLeader):
        led.ledger.current_run()
    leadership.lose(led)
    assert term.is_set()
    assert leadership.led is None
    again = leadership.take()
    assert again is not None
    assert again is not led
    leadership.lose(led)
    assert leadership.led is again
    assert again.ledger.start_run()[1]


def test_a_role_that_is_given_up_is_free_at_once_and_not_taken_again(world: World) -> None:
    one, two = Leadership("kb", world.state, "one"), Leadership("kb", world.state, "two")
    one.take()
    one.give_up()
    assert two.take() is not None
    two.give_up()
    assert one.take() is None


def test_a_role_that_cannot_be_freed_is_left_to_run_out(world: World) -> None:
    leases = Failing(world.state.leases)
    one = Leadership("kb", replace(world.state, leases=leases), "one")
    assert one.take() is not None
    leases.fail("release_role", StoreDown("no answer"))
    assert one.give_up() is False
    assert one.led is None
    assert one.give_up() is True


def test_a_successor_under_the_same_name_goes_on_at_once(world: World) -> None:
    assert Leadership("kb", world.state, "child of 7").take() is not None
    assert Leadership("kb", world.state, "child of 7").take() is not None


def test_a_term_ends_with_the_process(world: World) -> None:
    leadership = Leadership("kb", world.state, "one")
    led = leadership.take()
    assert led is not None
    stopping = threading.Event()
    term = Term(leadership, led, stopping)
    stopping.set()
    assert term.is_set()
