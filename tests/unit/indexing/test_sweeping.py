"""Replaced and abandoned chunks go late, twice, and by one sweeper."""

from dataclasses import replace

import pytest

from docmill.domain.errors import StoreDown
from docmill.domain.registry import Lane
from docmill.indexing.committing import Prepared
from docmill.indexing.sweeping import sweep, sweep_safely
from support.failing import Failing
from support.indexing_world import World

GRACE = 60.0


@pytest.fixture
def world() -> World:
    made = World()
    made.source.put("a.md", "one\ntwo")
    made.enqueue("a.md")
    made.work()
    return made


def stored(world: World, strategy: str = "words") -> int:
    return world.target.store(world.target.knowledge_base.strategy(strategy)).count(world.target.index(strategy))


def swept(world: World) -> int:
    return sweep(world.state.registry, [world.target], grace_seconds=GRACE)


def garbage(world: World) -> int:
    return len(world.memory.snapshot().garbage)


def replace_text(world: World, text: str) -> None:
    world.source.put("a.md", text)
    world.enqueue("a.md")
    world.work()


def abandoned_after_writing(world: World) -> Prepared:
    """An attempt that has written everything when its worker dies."""
    world.source.put("a.md", "three")
    world.enqueue("a.md")
    world.reconciler().reconcile(world.tasks.take())
    (prepared,) = world.handed_over
    registry = Failing(world.memory.registry)
    registry.fail("commit", StoreDown("killed here"))
    state, world.state = world.state, replace(world.state, registry=registry)
    with pytest.raises(StoreDown):
        world.commit()
    world.state = state
    return prepared


def test_a_replaced_generation_is_deleted_twice_with_a_grace_between(world: World) -> None:
    replace_text(world, "three")
    world.clock.now += GRACE + 1
    assert (swept(world), garbage(world)) == (1, 1)
    assert swept(world) == 0
    world.clock.now += GRACE + 1
    assert (swept(world), garbage(world)) == (1, 0)


def test_a_write_that_lands_after_the_first_deletion_goes_with_the_second(world: World) -> None:
    prepared = abandoned_after_writing(world)
    world.clock.now += GRACE + 1
    swept(world)
    for write in prepared.writes:
        write.store.write(write.index, write.records)
    assert stored(world) == 3
    world.clock.now += GRACE + 1
    swept(world)
    assert (stored(world, "words"), stored(world, "dense")) == (2, 2)


def test_what_is_leased_is_left_alone_however_old_it_is(world: World) -> None:
    prepared = abandoned_after_writing(world)
    for _ in range(30):
        world.clock.now += 5
        assert world.state.leases.renew([prepared.commit.attempt], 30) == [True]
    assert swept(world) == 0
    assert stored(world) == 3


def test_an_attempt_that_wrote_nothing_is_forgotten_at_once(world: World) -> None:
    world.source.put("a.md", "three")
    world.enqueue("a.md")
    world.reconciler().reconcile(world.tasks.take())
    world.clock.now += GRACE + 1
    assert (swept(world), garbage(world)) == (1, 0)


def test_a_store_that_is_down_leaves_everything_to_the_next_round(world: World) -> None:
    replace_text(world, "three")
    world.clock.now += GRACE + 1
    lexical = Failing(world.lexical)
    lexical.fail("delete", StoreDown("no answer"))
    target, world.target = world.target, replace(world.target, lexical=lexical)
    with pytest.raises(StoreDown):
        swept(world)
    world.target = target
    before = world.memory.snapshot().garbage
    assert not any(record.garbage.deleted_once for record in before.values())
    assert swept(world) == 1
    assert stored(world) == 1


def test_garbage_of_an_index_set_that_is_no_more_needs_no_store(world: World) -> None:
    replace_text(world, "three")
    world.clock.now += GRACE + 1
    assert sweep(world.state.registry, [], grace_seconds=GRACE) == 1


def test_a_gone_document_is_forgotten_after_the_grace(world: World) -> None:
    world.source.delete("a.md")
    world.enqueue("a.md")
    world.work()
    swept(world)
    assert world.entry("a.md") is not None
    world.clock.now += GRACE + 1
    swept(world)
    assert world.entry("a.md") is None


def test_a_document_that_comes_back_within_the_grace_is_not_forgotten(world: World) -> None:
    world.source.delete("a.md")
    world.enqueue("a.md")
    world.work()
    replace_text(world, "back")
    world.clock.now += GRACE + 1
    swept(world)
    assert world.live_texts("a.md")["words"] == ["back"]


def test_rounds_go_on_until_nothing_is_due(world: World) -> None:
    for number in range(3):
        replace_text(world, f"text {number}")
    world.clock.now += GRACE + 1
    assert sweep_safely(world.state.registry, lambda: [world.target], grace_seconds=GRACE) == 3


def test_a_round_that_is_interrupted_is_no_error_of_the_caller(world: World) -> None:
    registry = Failing(world.memory.registry)
    registry.fail("due_garbage", StoreDown("no answer"))
    assert sweep_safely(registry, lambda: [world.target], grace_seconds=GRACE) == 0


def test_the_newest_version_stays_when_its_document_waits_for_work(world: World) -> None:
    world.state.ledger.enqueue(["a.md"], Lane.BULK)
    world.clock.now += 10 * GRACE
    swept(world)
    assert world.live_texts("a.md") == {"dense": ["one", "two"], "words": ["one", "two"]}
