"""When the index set that is being built takes over from the one that is served."""

from dataclasses import replace
from pathlib import Path

import pytest

from docmill.adapters.memory.models import HashEmbeddingModel
from docmill.adapters.memory.state import MemoryState
from docmill.adapters.memory.stores import MemoryLexicalStore, MemoryVectorStore
from docmill.domain.knowledge_bases import Chunking, KnowledgeBase, StrategyKind, StrategySpec
from docmill.domain.registry import Lane
from docmill.domain.runs import RunState
from docmill.indexing.index_sets import IndexSets, sets_to_fill
from docmill.ports.state import KnowledgeBaseState

BEFORE = KnowledgeBase("kb", Path("/nowhere"), ("/nowhere",), (StrategySpec("words", StrategyKind.BM25, 0.0),))
AFTER = replace(BEFORE, strategies=(replace(BEFORE.strategies[0], chunking=Chunking(size=99)),))


class World:
    """A knowledge base that is opened again and again, as starts do."""

    def __init__(self) -> None:
        memory = MemoryState("kb")
        self.state = KnowledgeBaseState(memory.registry, memory.leases, memory.ledger)
        self.vectors, self.lexical = MemoryVectorStore(), MemoryLexicalStore()
        self.open(BEFORE)

    def open(self, knowledge_base: KnowledgeBase) -> None:
        self.state.registry.raise_epoch(1)
        self.sets = IndexSets(knowledge_base, self.state, self.vectors, self.lexical, lambda specification: HashEmbeddingModel())
        self.sets.open()

    def run(self) -> None:
        """A run that finds nothing to do."""
        run, _ = self.state.ledger.start_run()
        self.state.ledger.scan_ended(run.id)
        assert self.state.ledger.complete(run.id)


@pytest.fixture
def world() -> World:
    return World()


def test_the_set_being_built_is_served_after_a_run_that_began_once_it_was_there(world: World) -> None:
    world.run()
    world.open(AFTER)
    assert not world.sets.settle()
    world.run()
    assert world.sets.settle()
    assert len(sets_to_fill(world.state)) == 1


def test_a_run_that_was_complete_before_an_interrupted_one_proves_nothing(world: World) -> None:
    world.run()
    interrupted, _ = world.state.ledger.start_run()
    world.open(AFTER)
    world.state.ledger.end_run(interrupted.id, RunState.CANCELLED)
    world.state.ledger.start_run()
    assert not world.sets.settle()
    assert len(sets_to_fill(world.state)) == 2


def test_a_set_is_not_served_while_a_document_is_queued_or_in_work(world: World) -> None:
    world.run()
    world.open(AFTER)
    (message,) = world.state.ledger.enqueue(["a.md"], Lane.LIVE)
    world.run()
    assert not world.sets.settle()
    attempt = world.state.ledger.begin(message, 30.0)
    assert attempt is not None
    assert not world.sets.settle()
    world.state.ledger.finish(attempt)
    assert world.sets.settle()


def test_a_document_that_failed_before_the_new_set_had_any_keeps_it_from_being_served(world: World) -> None:
    world.run()
    world.open(AFTER)
    (message,) = world.state.ledger.enqueue(["a.md"], Lane.LIVE)
    attempt = world.state.ledger.begin(message, 30.0)
    assert attempt is not None
    world.state.ledger.finish(attempt, failed="document.deadline: it took too long")
    world.run()
    assert not world.sets.settle()
