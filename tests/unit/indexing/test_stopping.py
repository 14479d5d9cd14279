"""What a process that is stopping leaves behind of a document in work."""

import threading

import pytest

from docmill.domain.errors import StoreDown
from docmill.domain.registry import Attempt, Lane
from docmill.indexing.leasekeeping import LeaseKeeper
from docmill.indexing.sources import Content
from docmill.ports.registry import Leases
from support.indexing_world import World


@pytest.mark.parametrize("error", [StoreDown("it is closed"), RuntimeError("it is closed")])
def test_what_fails_while_the_process_stops_is_no_failure_of_the_document(error: Exception) -> None:
    world = World()
    world.source.put("a.md", "one")
    world.enqueue("a.md")

    def read(document_id: str) -> Content | None:
        world.keeper.stop()
        raise error

    world.source.read = read  # type: ignore[method-assign]
    world.work()
    assert world.entry("a.md") is None
    assert sum(world.state.ledger.outstanding()) == 1


def test_a_renewal_that_hangs_does_not_hold_up_a_stop() -> None:
    hangs, released = threading.Event(), threading.Event()

    def leases_of(name: str) -> Leases:
        hangs.set()
        released.wait(30.0)
        raise StoreDown("no answer")

    keeper = LeaseKeeper(leases_of, ttl_seconds=30, interval_seconds=0.01)
    keeper.hold(Attempt("kb", "a.md", 1, 1, Lane.BULK))
    keeper.start()
    try:
        assert hangs.wait(10.0)
        keeper.stop()
        assert keeper.stopped
    finally:
        released.set()
