"""A changed pipeline builds a second index set beside the served one, which takes over and whose forerunner goes."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from docmill.adapters.memory.stores import MemoryVectorStore
from docmill.domain.chunks import Chunk
from docmill.domain.documents import LoadedDocument
from docmill.domain.errors import NotAvailable, StoreRejected
from docmill.domain.knowledge_bases import Chunking, EmbeddingModelSpec, KnowledgeBase, StrategyKind
from docmill.domain.registry import DocumentState, Lane
from docmill.indexing.index_sets import IndexSets, sets_to_fill
from docmill.indexing.targets import Target
from docmill.ports.models import EmbeddingModel
from support.failing import Failing
from support.indexing_world import KB, World, line_chunks

WHOLE = replace(KB, strategies=tuple(replace(strategy, chunking=Chunking(size=9_999)) for strategy in KB.strategies))


def chunker(document: LoadedDocument, settings: Chunking) -> list[Chunk]:
    """Lines, or with the other pipeline the whole document."""
    if settings.size < 9_999:
        return line_chunks(document, settings)
    return [Chunk(0, document.text, (), 1, 1, document.text)] if document.text else []


class ChangingWorld(World):
    """A world that is opened with one configuration after another."""

    def __init__(self) -> None:
        super().__init__()
        self.memory.registry.serve("made before")
        self.sets = self.open(KB)

    def open(self, knowledge_base: KnowledgeBase) -> IndexSets:
        self.sets = IndexSets(knowledge_base, self.state, self.vectors, self.lexical, self.model_of)
        self.sets.open()
        return self.sets

    def model_of(self, specification: EmbeddingModelSpec) -> EmbeddingModel:
        return self.model

    def run(self, *document_ids: str) -> None:
        """A run that plans these documents, to its end."""
        run, _ = self.state.ledger.start_run()
        self.tasks.send(self.state.ledger.enqueue(document_ids, Lane.BULK, run_id=run.id), Lane.BULK)
        self.state.ledger.scan_ended(run.id)
        while self.tasks.messages:
            reconciler = replace(self.reconciler(), targets=self.sets.targets, chunker=chunker)
            reconciler.reconcile(self.tasks.take())
            self.commit()
        assert self.state.ledger.complete(run.id)

    def texts(self, target: Target, document_id: str) -> list[str]:
        _, entries = self.state.registry.entries(target.index_set, [document_id])
        live = entries[document_id].live
        assert live is not None
        return [record.text for record in self.lexical.chunks_of(target.index("words"), document_id, live.generation)]


@pytest.fixture
def world() -> ChangingWorld:
    made = ChangingWorld()
    made.source.put("a.md", "one\ntwo")
    made.run("a.md")
    return made


def names(targets: Sequence[Target]) -> list[str]:
    return [target.index_set for target in targets]


def test_the_first_set_is_served_at_once(world: ChangingWorld) -> None:
    assert world.state.registry.position().index_set == world.sets.served().index_set
    assert names(world.sets.targets()) == sets_to_fill(world.state)
    assert not world.sets.settle()


def test_the_same_pipeline_opens_the_same_set(world: ChangingWorld) -> None:
    before = names(world.sets.targets())
    assert names(world.open(replace(KB, description="other words")).targets()) == before


def test_a_changed_pipeline_leaves_the_served_set_and_builds_another(world: ChangingWorld) -> None:
    served = world.sets.served().index_set
    sets = world.open(WHOLE)
    assert sets.served().index_set == world.state.registry.position().index_set == served
    assert names(sets.targets()) == sets_to_fill(world.state)
    assert len(sets.targets()) == 2


def test_while_two_sets_exist_a_change_goes_to_both(world: ChangingWorld) -> None:
    sets = world.open(WHOLE)
    world.source.put("a.md", "one\nthree")
    world.run("a.md")
    old, new = sets.targets()
    assert world.texts(old, "a.md") == ["one", "three"]
    assert world.texts(new, "a.md") == ["one\nthree"]


def test_texts_that_both_sets_have_are_embedded_once(world: ChangingWorld) -> None:
    world.source.put("b.md", "one line")
    world.run("b.md")
    embedded = world.model.texts
    world.open(WHOLE)
    world.run("b.md")
    assert world.model.texts == embedded


def test_the_new_set_takes_over_when_a_run_has_filled_it(world: ChangingWorld) -> None:
    sets = world.open(WHOLE)
    world.run("a.md")
    assert sets.settle()
    assert names(sets.targets()) == [world.state.registry.position().index_set]
    assert world.texts(sets.served(), "a.md") == ["one\ntwo"]
    assert not sets.settle()


def test_a_document_that_failed_in_the_new_set_keeps_the_old_one(world: ChangingWorld) -> None:
    world.source.put("b.md", "three")
    world.run("b.md")
    lexical = Failing(world.lexical)
    world.lexical, real = lexical, world.lexical  # type: ignore[assignment]  # stands for it
    sets = world.open(WHOLE)
    new = sets.targets()[1]
    lexical.fail("write", StoreRejected("no"), lambda index, records: index == new.index("words") and records[0].document_id == "a.md")
    world.run("b.md", "a.md")
    assert not sets.settle()
    states, _ = world.state.registry.counts(new.index_set)
    assert states == {DocumentState.LIVE: 1, DocumentState.FAILED: 1}
    world.lexical = real
    assert world.texts(sets.served(), "a.md") == ["one", "two"]


def test_a_run_with_errors_does_not_let_the_new_set_take_over(world: ChangingWorld) -> None:
    sets = world.open(WHOLE)
    world.run("a.md")
    run, _ = world.state.ledger.start_run()
    world.state.ledger.count(run.id, {"failed.unreadable": 1})
    world.state.ledger.scan_ended(run.id)
    assert world.state.ledger.complete(run.id)
    assert not sets.settle()


def test_the_old_set_goes_with_its_indexes_and_its_entries(world: ChangingWorld) -> None:
    old = world.sets.served()
    sets = world.open(WHOLE)
    world.run("a.md")
    sets.drop_others()
    assert old.index("words") in world.lexical.indexes()
    assert sets.settle()
    sets.drop_others()
    assert old.index("words") not in world.lexical.indexes()
    assert old.index("dense") not in world.vectors.indexes()
    assert world.state.registry.index_sets() == [sets.served().index_set]


def test_going_back_to_the_old_pipeline_needs_no_run(world: ChangingWorld) -> None:
    old = world.sets.served().index_set
    world.open(WHOLE)
    sets = world.open(KB)
    assert names(sets.targets()) == [old]
    assert sets_to_fill(world.state) == [old]


def test_a_set_whose_store_was_wiped_is_not_served_any_more(world: ChangingWorld) -> None:
    before = world.sets.served().index_set
    world.vectors = MemoryVectorStore()
    sets = world.open(KB)
    assert sets.served().index_set != before
    assert world.state.registry.position().index_set == sets.served().index_set


def test_a_set_whose_model_this_version_cannot_have_is_not_served_any_more(world: ChangingWorld) -> None:
    before = world.sets.served().index_set

    def model_of(specification: EmbeddingModelSpec) -> EmbeddingModel:
        raise NotAvailable("that model is not available yet")

    words_only = replace(KB, strategies=tuple(strategy for strategy in KB.strategies if strategy.kind is StrategyKind.BM25))
    sets = IndexSets(words_only, world.state, world.vectors, world.lexical, model_of)
    sets.open()
    assert sets.served().index_set != before
