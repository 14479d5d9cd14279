"""A worker that stops in order gives back what it does not finish."""

import pytest

from docmill.domain.errors import StoreDown
from docmill.domain.registry import Attempt, Lane
from docmill.indexing.giving_back import give_back
from docmill.indexing.sources import Content
from docmill.ports.ledger import RunLedger
from support.indexing_world import World


def begun(world: World, document_id: str, lane: Lane = Lane.BULK) -> Attempt:
    world.source.put(document_id, "text")
    (message,) = world.state.ledger.enqueue([document_id], lane)
    attempt = world.state.ledger.begin(message, 30)
    assert attempt is not None
    world.keeper.hold(attempt)
    return attempt


def test_what_is_in_work_is_sent_again_in_its_lane_and_is_no_suspect() -> None:
    world = World()
    begun(world, "a.md"), begun(world, "b.md", Lane.LIVE)
    world.keeper.stop()
    assert give_back(world.keeper.held(), lambda _: world.state.ledger, world.tasks) == 2
    assert sorted((lane, message.document_id) for lane, message in world.tasks.messages) == [(Lane.BULK, "a.md"), (Lane.LIVE, "b.md")]
    for _, message in world.tasks.messages:
        again = world.state.ledger.begin(message, 30)
        assert again is not None
        assert again.suspicion is None


def test_a_document_whose_attempt_ends_since_the_worker_stops_is_given_back() -> None:
    world = World()
    world.source.put("a.md", "text")
    world.enqueue("a.md")
    read = world.source.read

    def stop_and_read(document_id: str) -> Content | None:
        world.keeper.stop()
        return read(document_id)

    world.source.read = stop_and_read  # type: ignore[method-assign]
    world.reconciler().reconcile(world.tasks.take())
    assert give_back(world.keeper.held(), lambda _: world.state.ledger, world.tasks) == 1
    assert world.state.ledger.outstanding() == (1, 0)


def test_a_document_that_was_committed_meanwhile_is_left_alone() -> None:
    world = World()
    world.source.put("a.md", "text")
    world.enqueue("a.md")
    world.reconciler().reconcile(world.tasks.take())
    world.keeper.stop()
    world.commit()
    assert len(world.keeper.held()) == 1
    assert give_back(world.keeper.held(), lambda _: world.state.ledger, world.tasks) == 0
    assert world.tasks.messages == []


def test_a_registry_that_does_not_answer_holds_up_no_stop() -> None:
    world = World()
    begun(world, "a.md")

    def away(_: str) -> RunLedger:
        raise StoreDown("no answer")

    assert give_back(world.keeper.held(), away, world.tasks) == 0


@pytest.mark.parametrize("stopping", [False, True])
def test_only_a_keeper_that_stops_still_knows_what_was_let_go(stopping: bool) -> None:
    world = World()
    attempt = begun(world, "a.md")
    if stopping:
        world.keeper.stop()
    world.keeper.let_go(attempt)
    assert world.keeper.held() == ([attempt] if stopping else [])
