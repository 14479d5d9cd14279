"""A registry that was lost is made again from the stores: what was whole is served at once, and nothing is embedded."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from docmill.adapters.memory.state_data import StateData
from docmill.domain.errors import RootUnavailable, StoreDown, Superseded
from docmill.domain.generations import epoch_of
from docmill.domain.registry import DocumentState, Entry, Lane
from docmill.indexing.anti_entropy import reconcile_stores
from docmill.indexing.index_sets import BUILDING
from docmill.indexing.rebuilding import Rebuild, Rebuilt
from docmill.indexing.targets import Target
from docmill.ports.registry import REBUILD_ROLE
from support.failing import Failing
from support.indexing_world import INDEX_SET, KB, World

GRACE = 60.0


@pytest.fixture
def world() -> World:
    made = World(refresh_needed=True)
    made.vectors.raise_epoch(1)
    made.lexical.raise_epoch(1)
    made.source.put("a.md", "one\ntwo")
    made.source.put("b.md", "three")
    made.source.put("empty.md", "")
    made.enqueue("a.md", "b.md", "empty.md")
    made.work()
    return made


def flush(world: World) -> None:
    """The registry forgets everything; messages stay in the queue."""
    world.memory.restore(StateData("kb"))


def rebuild(world: World, targets: Sequence[Target] = (), holder: str = "host:1") -> Rebuilt | None:
    parts = Rebuild(world.state, targets or [world.target], world.source, world.tasks, world.clock, holder, GRACE)
    return parts.carry_out()


def entry_of(world: World, document_id: str) -> Entry:
    entry = world.entry(document_id)
    assert entry is not None
    return entry


def generation_of(world: World, document_id: str) -> int:
    live = entry_of(world, document_id).live
    assert live is not None
    return live.generation


def test_what_was_live_is_live_again_without_an_embedding(world: World) -> None:
    before = {document_id: entry_of(world, document_id) for document_id in ("a.md", "b.md")}
    embedded = world.model.texts
    flush(world)
    assert rebuild(world) == Rebuilt(epoch=2, served=2, stale=0)
    for document_id, old in before.items():
        entry = entry_of(world, document_id)
        assert old.live is not None
        assert entry == replace(old, live=replace(old.live, commit=0))
    assert world.live_texts("a.md") == {"dense": ["one", "two"], "words": ["one", "two"]}
    assert world.state.registry.position().index_set == INDEX_SET
    assert world.state.registry.counts(INDEX_SET) == ({DocumentState.LIVE: 2}, {"dense": 3, "words": 3})
    assert world.model.texts == embedded


def test_an_unchanged_document_needs_no_work_after_the_rebuild(world: World) -> None:
    flush(world)
    rebuild(world)
    generation, embedded = generation_of(world, "a.md"), world.model.texts
    assert world.state.registry.stats(INDEX_SET, ["a.md", "empty.md"]) == [world.source.stat_of("a.md"), None]
    world.enqueue("a.md")
    world.work()
    assert (generation_of(world, "a.md"), world.model.texts) == (generation, embedded)


def test_a_document_that_was_changed_meanwhile_is_served_as_it_was_and_planned_first(world: World) -> None:
    world.source.put("a.md", "new")
    world.tasks.purge()
    flush(world)
    assert rebuild(world) == Rebuilt(epoch=2, served=2, stale=1)
    assert world.live_texts("a.md")["words"] == ["one", "two"]
    assert entry_of(world, "a.md").marked
    assert [message.document_id for _, message in world.tasks.messages] == ["a.md"]
    world.work()
    assert world.live_texts("a.md")["words"] == ["new"]


def test_the_generation_that_equals_the_source_is_preferred_to_a_higher_one(world: World) -> None:
    old = generation_of(world, "a.md")
    world.source.put("a.md", "new")
    world.enqueue("a.md")
    world.work()
    world.source.put("a.md", "one\ntwo")
    flush(world)
    assert rebuild(world) == Rebuilt(epoch=2, served=2, stale=0)
    assert generation_of(world, "a.md") == old


def test_of_two_that_equal_the_source_the_higher_one_is_adopted(world: World) -> None:
    old = generation_of(world, "a.md")
    world.state.registry.mark(INDEX_SET, "a.md", old)
    world.enqueue("a.md")
    world.work()
    newer = generation_of(world, "a.md")
    assert newer > old
    flush(world)
    rebuild(world)
    assert generation_of(world, "a.md") == newer


@pytest.mark.parametrize("strategy", ["dense", "words"])
def test_a_generation_that_is_not_whole_in_every_store_is_not_adopted(world: World, strategy: str) -> None:
    old = generation_of(world, "a.md")
    world.source.put("a.md", "new\nnewer")
    world.enqueue("a.md")
    world.work()
    spec = KB.strategy(strategy)
    store, index = world.target.store(spec), world.target.index(strategy)
    store.delete(index, "a.md", generation_of(world, "a.md"), 1)
    flush(world)
    assert rebuild(world) == Rebuilt(epoch=2, served=2, stale=1)
    assert generation_of(world, "a.md") == old


def test_a_document_that_is_whole_nowhere_is_left_to_the_scan(world: World) -> None:
    world.lexical.delete(world.target.index("words"), "a.md", generation_of(world, "a.md"), 2)
    flush(world)
    assert rebuild(world) == Rebuilt(epoch=2, served=1, stale=0)
    assert world.entry("a.md") is None


def test_what_was_written_and_never_committed_is_adopted_when_it_equals_the_source(world: World) -> None:
    world.source.put("a.md", "new")
    world.enqueue("a.md")
    world.reconciler().reconcile(world.tasks.take())
    (prepared,) = world.handed_over
    for write in prepared.writes:
        write.store.write(write.index, write.records)
    flush(world)
    rebuild(world)
    assert generation_of(world, "a.md") == prepared.commit.attempt.generation
    assert set(world.commit().values()) == {"superseded"}
    assert world.live_texts("a.md")["words"] == ["new"]


def test_a_document_whose_source_is_gone_is_served_until_the_scan_removes_it(world: World) -> None:
    world.source.delete("a.md")
    flush(world)
    assert rebuild(world) == Rebuilt(epoch=2, served=2, stale=0)
    world.enqueue("a.md")
    world.work()
    assert entry_of(world, "a.md").state is DocumentState.GONE


def test_a_source_that_cannot_be_read_removes_nothing(world: World) -> None:
    source = Failing(world.source)
    source.fail("read", RootUnavailable("not mounted"))
    flush(world)
    rebuilt = Rebuild(world.state, [world.target], source, world.tasks, world.clock, "host:1", GRACE).carry_out()  # type: ignore[arg-type]
    assert rebuilt == Rebuilt(epoch=2, served=2, stale=2)
    assert world.live_texts("a.md")["words"] == ["one", "two"]


def test_later_attempts_get_higher_generations_than_any_that_was_found(world: World) -> None:
    found = generation_of(world, "a.md")
    world.vectors.raise_epoch(7)
    flush(world)
    assert rebuild(world) == Rebuilt(epoch=8, served=2, stale=0)
    assert (world.vectors.epoch(), world.lexical.epoch()) == (8, 8)
    world.source.put("a.md", "new")
    world.enqueue("a.md")
    world.work()
    assert epoch_of(generation_of(world, "a.md")) == 8
    assert generation_of(world, "a.md") > found


def test_the_new_epoch_is_above_every_generation_whatever_the_stores_recorded(world: World) -> None:
    world.state.registry.raise_epoch(5)
    world.source.put("a.md", "new")
    world.enqueue("a.md")
    world.work()
    flush(world)
    assert rebuild(world) == Rebuilt(epoch=6, served=2, stale=0)
    assert world.lexical.epoch() == 6


def test_what_is_left_over_is_removed_by_anti_entropy(world: World) -> None:
    world.source.put("a.md", "new")
    world.enqueue("a.md")
    world.work()
    flush(world)
    rebuild(world)
    assert reconcile_stores(world.state, world.target).removed == 2
    world.lexical.refresh(world.target.index("words"))
    assert (world.vectors.count(world.target.index("dense")), world.lexical.count(world.target.index("words"))) == (2, 2)


def test_an_attempt_of_before_changes_nothing_afterwards(world: World) -> None:
    world.source.put("b.md", "four")
    world.enqueue("b.md")
    (_, old_message), *_ = world.tasks.messages
    world.reconciler().reconcile(world.tasks.take())
    flush(world)
    rebuild(world)
    assert set(world.commit().values()) == {"superseded"}
    world.reconciler().reconcile(old_message)
    assert world.handed_over == []
    assert world.live_texts("b.md")["words"] == ["three"]


def test_a_write_that_lands_within_the_grace_is_found(world: World) -> None:
    """The stores are read only after the grace: what an attempt of before had sent by the loss is there by then."""
    world.source.put("a.md", "new")
    world.enqueue("a.md")
    world.reconciler().reconcile(world.tasks.take())
    (prepared,) = world.handed_over

    class LandsMeanwhile:
        def monotonic(self) -> float:
            return world.clock.monotonic()

        def sleep(self, seconds: float) -> None:
            for write in prepared.writes:
                write.store.write(write.index, write.records)
            world.clock.sleep(seconds)

    flush(world)
    Rebuild(world.state, [world.target], world.source, world.tasks, LandsMeanwhile(), "host:1", GRACE).carry_out()
    assert generation_of(world, "a.md") == prepared.commit.attempt.generation


def test_a_state_that_is_open_is_left_alone(world: World) -> None:
    world.source.put("a.md", "new")
    assert rebuild(world) is None
    assert world.state.ledger.current_run() is None
    assert world.vectors.epoch() == 1


def test_only_one_process_rebuilds(world: World) -> None:
    flush(world)
    assert world.state.leases.acquire_role(REBUILD_ROLE, "host:2", 60) is not None
    assert rebuild(world) is None
    assert world.state.registry.position().epoch == 0


def _another_takes_over(world: World) -> None:
    world.clock.now += 61
    assert world.state.leases.acquire_role(REBUILD_ROLE, "host:2", 60) is not None


def _lost_again(world: World) -> None:
    flush(world)


@pytest.mark.parametrize("misfortune", [_another_takes_over, _lost_again])
def test_a_rebuild_that_lost_its_role_opens_nothing(world: World, misfortune: Callable[[World], None]) -> None:
    flush(world)
    scans = Failing(world.lexical)
    scans.fail("generations", StoreDown("never"), when=lambda _: bool(misfortune(world)))
    with pytest.raises(Superseded):
        rebuild(world, [replace(world.target, lexical=scans)])  # type: ignore[type-var]
    assert world.state.registry.position().epoch == 0


def test_a_rebuild_that_was_broken_off_is_made_by_the_next_try(world: World) -> None:
    flush(world)
    scans = Failing(world.lexical)
    scans.fail("generations", StoreDown("no answer"))
    with pytest.raises(StoreDown):
        rebuild(world, [replace(world.target, lexical=scans)])  # type: ignore[type-var]
    assert world.state.registry.position().epoch == 0
    with pytest.raises(StoreDown):
        world.state.ledger.enqueue(["a.md"], Lane.BULK)
    assert rebuild(world) == Rebuilt(epoch=3, served=2, stale=0)


def test_both_sets_are_rebuilt_while_one_is_being_built(world: World) -> None:
    building = replace(world.target, index_set="set2")
    building.create_indexes()
    targets = [world.target, building]
    for document_id in ("a.md", "b.md"):
        world.source.put(document_id, f"new {document_id}")
    world.enqueue("a.md", "b.md")
    while world.tasks.messages:
        replace(world.reconciler(), targets=lambda: targets).reconcile(world.tasks.take())
        world.commit()
    flush(world)
    assert rebuild(world, targets) == Rebuilt(epoch=2, served=4, stale=0)
    assert world.state.registry.position().index_set == INDEX_SET
    assert world.state.registry.noted(BUILDING) == "set2"
    assert world.state.registry.index_sets() == [INDEX_SET, "set2"]


def test_more_documents_than_a_batch_are_adopted(world: World) -> None:
    names = [f"{number}.txt" for number in range(450)]
    for name in names:
        world.source.put(name, f"text of {name}")
    world.enqueue(*names)
    world.work()
    flush(world)
    assert rebuild(world) == Rebuilt(epoch=2, served=452, stale=0)
    assert all(entry_of(world, name).stat for name in names)
