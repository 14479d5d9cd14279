"""One document's way from an edit to a commit, over the twins in memory."""

from dataclasses import replace

import pytest

from docmill.domain.registry import DocumentState, Entry, Lane
from docmill.indexing.anti_entropy import reconcile_stores
from docmill.indexing.batches import PLANNED_AT_ONCE
from docmill.indexing.sweeping import sweep
from support.indexing_world import World


@pytest.fixture
def world() -> World:
    return World()


def live_entry(world: World, document_id: str) -> Entry:
    entry = world.entry(document_id)
    assert entry is not None
    return entry


def test_a_new_document_becomes_live_in_every_store(world: World) -> None:
    world.source.put("a.md", "one\ntwo")
    world.enqueue("a.md")
    world.work()
    assert world.live_texts("a.md") == {"dense": ["one", "two"], "words": ["one", "two"]}
    assert live_entry(world, "a.md").state is DocumentState.LIVE


def test_an_unchanged_document_is_not_embedded_again_but_its_stat_is_refreshed(world: World) -> None:
    world.source.put("a.md", "one")
    world.enqueue("a.md")
    world.work()
    before = live_entry(world, "a.md")
    world.source.put("a.md", "one")
    world.enqueue("a.md")
    world.work()
    after = live_entry(world, "a.md")
    assert after.live == before.live
    assert after.stat == "v2"
    assert world.model.texts == 1


def test_a_changed_document_keeps_the_vectors_of_unchanged_chunks(world: World) -> None:
    world.source.put("a.md", "one\ntwo")
    world.enqueue("a.md")
    world.work()
    world.source.put("a.md", "one\nthree")
    world.enqueue("a.md")
    world.work()
    assert world.live_texts("a.md")["dense"] == ["one", "three"]
    assert world.model.texts == 3


def test_a_renamed_document_embeds_nothing(world: World) -> None:
    world.source.put("a.md", "one\ntwo")
    world.enqueue("a.md")
    world.work()
    world.source.delete("a.md")
    world.source.put("b.md", "one\ntwo")
    world.enqueue("b.md", "a.md")
    world.work()
    assert world.model.texts == 2
    assert world.live_texts("b.md")["words"] == ["one", "two"]
    assert live_entry(world, "a.md").state is DocumentState.GONE


def test_an_edit_while_a_document_is_in_work_is_indexed_afterwards(world: World) -> None:
    world.source.put("a.md", "one")
    world.enqueue("a.md")
    world.reconciler().reconcile(world.tasks.take())
    world.source.put("a.md", "two")
    world.enqueue("a.md", lane=Lane.LIVE)
    assert not world.tasks.messages
    world.commit()
    world.work()
    assert world.live_texts("a.md")["words"] == ["two"]


def test_a_doubled_message_is_carried_out_once(world: World) -> None:
    world.source.put("a.md", "one")
    world.enqueue("a.md")
    message = world.tasks.take()
    world.reconciler().reconcile(message)
    world.reconciler().reconcile(message)
    assert len(world.handed_over) == 1
    world.commit()
    world.work()
    assert world.model.texts == 1


def test_an_attempt_whose_lease_ran_out_is_superseded_and_its_chunks_are_swept(world: World) -> None:
    world.source.put("a.md", "one")
    world.enqueue("a.md")
    world.reconciler().reconcile(world.tasks.take())
    slow = world.handed_over.pop()
    world.clock.now += 31
    world.tasks.send(world.state.ledger.resend_expired(10), Lane.BULK)
    world.source.put("a.md", "two")
    world.work()
    world.handed_over.append(slow)
    assert list(world.commit().values()) == ["superseded"]
    assert world.live_texts("a.md")["words"] == ["two"]


def test_replaced_chunks_stay_for_the_grace_and_then_go(world: World) -> None:
    world.source.put("a.md", "one\ntwo")
    world.enqueue("a.md")
    world.work()
    world.source.put("a.md", "three")
    world.enqueue("a.md")
    world.work()
    words = world.target.index("words")
    assert sweep(world.state.registry, [world.target], grace_seconds=60) == 0
    assert world.lexical.count(words) == 3
    world.clock.now += 61
    sweep(world.state.registry, [world.target], grace_seconds=60)
    assert world.lexical.count(words) == 1
    assert world.live_texts("a.md")["dense"] == ["three"]


def test_an_emptied_document_stays_known_without_chunks(world: World) -> None:
    world.source.put("a.md", "one")
    world.enqueue("a.md")
    world.work()
    world.source.put("a.md", "")
    world.enqueue("a.md")
    world.work()
    assert live_entry(world, "a.md").state is DocumentState.EMPTY
    assert world.live_texts("a.md") == {"dense": [], "words": []}


def test_chunks_that_nobody_knows_are_removed_and_missing_ones_are_written_again(world: World) -> None:
    world.source.put("a.md", "one")
    world.source.put("b.md", "two")
    world.enqueue("a.md", "b.md")
    world.work()
    live = live_entry(world, "a.md").live
    assert live is not None
    words = world.target.index("words")
    stranger = world.lexical.chunks_of(words, "a.md", live.generation)[0]
    world.lexical.delete_generation(words, "a.md", live.generation)
    world.lexical.write(words, [replace(stranger, document_id="z.md", generation=7)])
    repair = reconcile_stores(world.state, world.target)
    world.tasks.send(repair.messages, Lane.BULK)
    world.work()
    assert repair.removed == 1
    assert repair.planned_again == ("a.md",)
    assert world.live_texts("a.md") == {"dense": ["one"], "words": ["one"]}
    assert world.lexical.chunks_of(words, "z.md", 7) == []


def test_of_very_many_documents_that_are_not_whole_only_the_first_are_planned_beside_a_run(world: World) -> None:
    names = [f"{number:04}.md" for number in range(PLANNED_AT_ONCE + 1)]
    for name in names:
        world.source.put(name, "one")
    world.enqueue(*names)
    world.work()
    world.target.drop_indexes()
    world.target.create_indexes()
    repair = reconcile_stores(world.state, world.target)
    assert len(repair.planned_again) == len(names)
    assert [message.document_id for message in repair.messages] == names[:-1]
    assert world.state.ledger.current_run() is not None
    assert world.state.registry.stats(world.target.index_set, names[-1:]) == [""], "the scan of the run plans it"
