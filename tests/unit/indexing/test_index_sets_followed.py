"""Index sets in processes that do not decide which there are."""

from dataclasses import replace
from pathlib import Path

import pytest

from docmill.adapters.memory.models import HashEmbeddingModel
from docmill.adapters.memory.state import MemoryState
from docmill.adapters.memory.stores import MemoryLexicalStore, MemoryVectorStore
from docmill.domain.errors import StoreDown
from docmill.domain.knowledge_bases import Chunking, KnowledgeBase, StrategyKind, StrategySpec
from docmill.domain.registry import Commit, DocumentState, Lane
from docmill.indexing.index_sets import FOLLOW_SECONDS, IndexSets
from docmill.ports.state import KnowledgeBaseState

BEFORE = KnowledgeBase("kb", Path("/nowhere"), ("/nowhere",), (StrategySpec("words", StrategyKind.BM25, 0.0),))
AFTER = replace(BEFORE, strategies=(replace(BEFORE.strategies[0], chunking=Chunking(size=99)),))


class Hosts:
    """One process that decides and one that follows, on the same servers."""

    def __init__(self) -> None:
        memory = MemoryState("kb")
        self.state = KnowledgeBaseState(memory.registry, memory.leases, memory.ledger)
        self.state.registry.raise_epoch(1)
        self.vectors, self.lexical = MemoryVectorStore(), MemoryLexicalStore()
        self.now = 0.0
        self.producer = self.process(BEFORE)
        self.producer.open()
        self.worker = self.process(BEFORE)

    def process(self, knowledge_base: KnowledgeBase) -> IndexSets:
        def model_of(_: object) -> HashEmbeddingModel:
            return HashEmbeddingModel()

        return IndexSets(knowledge_base, self.state, self.vectors, self.lexical, model_of, monotonic=lambda: self.now)

    def open(self, knowledge_base: KnowledgeBase) -> None:
        self.producer = self.process(knowledge_base)
        self.producer.open()

    def commit(self, index_sets: list[str], document_id: str) -> None:
        (message,) = self.state.ledger.enqueue([document_id], Lane.BULK)
        attempt = self.state.ledger.begin(message, 30.0)
        assert attempt is not None
        (result,) = self.state.registry.commit([Commit(attempt, DocumentState.EMPTY, "f", {name: {} for name in index_sets})])
        assert result.committed

    def run(self) -> None:
        """A run that finds nothing to do."""
        run, _ = self.state.ledger.start_run()
        self.state.ledger.scan_ended(run.id)
        assert self.state.ledger.complete(run.id)


@pytest.fixture
def hosts() -> Hosts:
    return Hosts()


def names(sets: IndexSets) -> list[str]:
    return [target.index_set for target in sets.targets()]


def test_a_follower_writes_to_the_set_being_built_once_it_has_looked_again(hosts: Hosts) -> None:
    before = names(hosts.worker)
    hosts.open(AFTER)
    hosts.now += FOLLOW_SECONDS
    assert names(hosts.worker) == names(hosts.producer) != before


def test_the_flip_by_one_process_is_followed_by_the_others(hosts: Hosts) -> None:
    names(hosts.worker)
    hosts.open(AFTER)
    hosts.run()
    settling = hosts.process(AFTER)
    assert settling.settle()
    hosts.now += FOLLOW_SECONDS
    assert hosts.worker.served().index_set == settling.served().index_set
    assert len(names(hosts.worker)) == 1


def test_a_set_that_lacks_a_document_of_the_old_one_does_not_take_over(hosts: Hosts) -> None:
    (old,) = names(hosts.worker)
    hosts.open(AFTER)
    hosts.commit([old], "late.md")  # by a worker that had not looked again
    hosts.run()
    assert not hosts.producer.settle()
    hosts.commit(names(hosts.producer), "late.md")
    assert hosts.producer.settle()


def test_a_follower_of_another_version_writes_only_what_it_makes_alike(hosts: Hosts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("docmill.domain.knowledge_bases.STORED_FORM_VERSION", 1_000_000)
    with pytest.raises(StoreDown, match="can be written"):
        hosts.worker.targets()


def test_a_wiped_store_is_a_new_set_and_the_old_one_is_written_no_more(hosts: Hosts) -> None:
    before = names(hosts.worker)
    hosts.lexical.restore(MemoryLexicalStore().snapshot())
    with pytest.raises(StoreDown, match="can be written"):
        hosts.worker.targets()
    assert hosts.producer.reopen_if_swapped()
    hosts.now += FOLLOW_SECONDS
    assert names(hosts.worker) == names(hosts.producer) != before
    assert not hosts.producer.reopen_if_swapped()


def test_sets_that_nobody_reads_are_dropped_but_none_that_was_just_opened(hosts: Hosts) -> None:
    names(hosts.worker)
    hosts.open(AFTER)
    hosts.commit(names(hosts.producer), "a.md")
    hosts.worker.drop_others()
    assert set(hosts.state.registry.index_sets()) == set(names(hosts.producer))
