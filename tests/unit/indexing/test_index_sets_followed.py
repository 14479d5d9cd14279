"""Index sets in processes that do not decide which there are."""

import json
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from docmill.adapters.memory.models import HashEmbeddingModel
from docmill.adapters.memory.state import MemoryState
from docmill.adapters.memory.state_data import StateData
from docmill.adapters.memory.stores import MemoryLexicalStore, MemoryVectorStore
from docmill.config.roots import resolve_roots
from docmill.domain.errors import StoreDown
from docmill.domain.knowledge_bases import Chunking, KnowledgeBase, Reranking, StrategyKind, StrategySpec
from docmill.domain.registry import Commit, DocumentState, Lane, Position
from docmill.indexing.index_sets import BUILDING, COMPARISON_WANTED, FOLLOW_SECONDS, IndexSets, noted_specification
from docmill.ports.registry import Registry
from docmill.ports.state import KnowledgeBaseState

BEFORE = KnowledgeBase("kb", Path("/nowhere"), ("/nowhere",), (StrategySpec("words", StrategyKind.BM25, 0.0),))
AFTER = replace(BEFORE, strategies=(replace(BEFORE.strategies[0], chunking=Chunking(size=99)),))


class Hosts:
    """One process that decides and one that follows, on the same servers."""

    def __init__(self) -> None:
        self.memory = MemoryState("kb")
        self.state = KnowledgeBaseState(self.memory.registry, self.memory.leases, self.memory.ledger)
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


class Silence:
    """A registry that does not answer while it is told to be silent."""

    def __init__(self, registry: Registry) -> None:
        self.lasts: Callable[[], object] | None = None
        self.asked = 0
        self._registry = registry

    def position(self) -> Position:
        if self.lasts is None:
            return self._registry.position()
        self.asked += 1
        self.lasts()
        raise StoreDown("no answer")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._registry, name)


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
    with pytest.raises(StoreDown, match="cannot be written"):
        hosts.worker.targets()


def test_a_follower_that_cannot_write_the_newest_set_writes_nothing(hosts: Hosts, monkeypatch: pytest.MonkeyPatch) -> None:
    names(hosts.worker)
    with monkeypatch.context() as newer:
        newer.setattr("docmill.domain.knowledge_bases.STORED_FORM_VERSION", 1_000_000)
        hosts.open(BEFORE)
    hosts.now += FOLLOW_SECONDS
    with pytest.raises(StoreDown, match="of another version"):
        hosts.worker.targets()


@pytest.mark.parametrize(
    "other",
    [
        replace(BEFORE, roots=("/nowhere", "/somewhere")),
        replace(BEFORE, respect_vcs=False),
        replace(BEFORE, strategies=(*BEFORE.strategies, StrategySpec("more words", StrategyKind.BM25, 0.0))),
        replace(BEFORE, strategies=(replace(BEFORE.strategies[0], roots=("/nowhere/else",)),)),
    ],
)
def test_a_follower_that_selects_otherwise_than_the_one_that_decides_writes_nothing(hosts: Hosts, other: KnowledgeBase) -> None:
    names(hosts.worker)
    hosts.open(other)
    hosts.now += FOLLOW_SECONDS
    with pytest.raises(StoreDown, match="the same configuration"):
        hosts.worker.targets()


@pytest.mark.parametrize("folder", ["/over/there", "/with [brackets]"])
def test_hosts_may_have_their_documents_at_different_places(folder: str) -> None:
    def at(base_folder: str) -> KnowledgeBase:
        roots = resolve_roots(["docs", "!docs/old", ".", "**/*.md", "/outside"], Path(base_folder))
        return replace(BEFORE, base_folder=Path(base_folder), roots=roots)

    here, there = at("/here"), at(folder)
    assert here.selection_hash == there.selection_hash != replace(there, roots=there.roots[:1]).selection_hash
    assert here.selection_hash != replace(here, roots=("/herefore", *here.roots[1:])).selection_hash


def test_the_one_that_decides_opens_its_set_again_after_another_one_decided(hosts: Hosts) -> None:
    assert not hosts.producer.reopen_if_swapped()
    hosts.process(AFTER).open()
    assert hosts.producer.reopen_if_swapped()
    assert names(hosts.process(BEFORE)) == names(hosts.producer)
    hosts.process(replace(BEFORE, roots=("/somewhere",))).open()
    assert hosts.producer.reopen_if_swapped()
    assert names(hosts.process(BEFORE)) == names(hosts.producer)
    assert not hosts.producer.reopen_if_swapped()


def test_nothing_is_served_from_a_registry_that_was_emptied_before_it_is_open_again(hosts: Hosts) -> None:
    hosts.memory.restore(StateData("kb"))
    assert not hosts.producer.reopen_if_swapped()
    assert hosts.state.registry.position().index_set is None
    hosts.state.registry.raise_epoch(2)
    assert hosts.producer.reopen_if_swapped()
    assert hosts.state.registry.position().index_set is not None


def test_an_index_that_somebody_removed_is_made_again_and_compared(hosts: Hosts) -> None:
    index = hosts.producer.served().index("words")
    assert not hosts.producer.reopen_if_swapped()
    assert hosts.state.registry.noted(COMPARISON_WANTED) is None
    hosts.lexical.drop(index)
    assert hosts.producer.reopen_if_swapped()
    assert index in hosts.lexical.indexes()
    assert hosts.state.registry.noted(COMPARISON_WANTED) is not None
    assert not hosts.producer.reopen_if_swapped()


def test_a_wiped_store_is_a_new_set_and_the_old_one_is_written_no_more(hosts: Hosts) -> None:
    before = names(hosts.worker)
    hosts.lexical.restore(MemoryLexicalStore().snapshot())
    hosts.now += FOLLOW_SECONDS
    with pytest.raises(StoreDown, match="cannot be written"):
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


def test_a_set_does_not_take_over_once_another_one_is_being_built(hosts: Hosts) -> None:
    hosts.open(AFTER)
    settling = hosts.process(AFTER)
    before, _ = names(settling)
    hosts.open(replace(AFTER, strategies=(replace(AFTER.strategies[0], chunking=Chunking(size=11)),)))
    hosts.run()
    assert not settling.settle()
    assert hosts.state.registry.position().index_set == before
    assert hosts.state.registry.noted(BUILDING) == names(hosts.producer)[1]


def test_a_set_that_this_version_cannot_read_is_not_dropped_while_it_is_built(hosts: Hosts) -> None:
    hosts.open(AFTER)
    sets = names(hosts.producer)
    hosts.commit(sets, "a.md")
    hosts.state.registry.note(f"specification:{sets[1]}", "{}")
    hosts.worker.drop_others()
    assert set(hosts.state.registry.index_sets()) == set(sets)


def test_a_set_that_is_opened_again_while_it_is_looked_up_is_not_dropped(hosts: Hosts) -> None:
    old = hosts.producer.served()
    hosts.commit(names(hosts.producer), "a.md")
    hosts.open(AFTER)
    hosts.commit(names(hosts.producer), "a.md")
    hosts.run()
    assert hosts.producer.settle()
    indexes, opened = hosts.lexical.indexes, False

    def held_up() -> list[str]:
        nonlocal opened
        if not opened:
            opened = True
            hosts.open(BEFORE)
        return indexes()

    hosts.lexical.indexes = held_up  # type: ignore[method-assign]
    hosts.worker.drop_others()
    assert opened
    assert old.index("words") in indexes()


def test_a_set_that_was_opened_and_left_before_anything_was_in_it_is_dropped(hosts: Hosts) -> None:
    hosts.open(AFTER)
    abandoned = hosts.producer.targets()[-1]
    hosts.open(BEFORE)
    hosts.worker.drop_others()
    assert abandoned.index("words") not in hosts.lexical.indexes()


def test_a_query_does_not_wait_for_another_one_that_asks_a_silent_registry(hosts: Hosts) -> None:
    silence = Silence(hosts.state.registry)
    hosts.state = replace(hosts.state, registry=silence)
    querying = hosts.process(BEFORE)
    before = querying.served()
    is_asked, may_answer = threading.Event(), threading.Event()

    def lasts() -> None:
        is_asked.set()
        may_answer.wait(30)

    silence.lasts = lasts
    hosts.now += FOLLOW_SECONDS
    waiting = threading.Thread(target=querying.served, daemon=True)
    waiting.start()
    assert is_asked.wait(30)
    assert querying.served() is before
    assert waiting.is_alive()
    may_answer.set()
    waiting.join(30)


def test_a_registry_that_was_silent_for_long_is_not_asked_again_at_once(hosts: Hosts) -> None:
    silence = Silence(hosts.state.registry)
    hosts.state = replace(hosts.state, registry=silence)
    querying = hosts.process(BEFORE)

    def lasts() -> None:
        hosts.now += 20

    silence.lasts = lasts
    querying.served()
    querying.served()
    assert silence.asked == 1
    hosts.now += FOLLOW_SECONDS
    querying.served()
    assert silence.asked == 2


@pytest.mark.parametrize("earlier", [None, {"model": "openai/x", "top_k": 5, "threshold": 0.5, "criteria": None}])
def test_a_set_that_an_earlier_version_noted_is_served_on(hosts: Hosts, earlier: dict[str, Any] | None) -> None:
    (served,) = names(hosts.producer)
    key = f"specification:{served}"
    noted = json.loads(hosts.state.registry.noted(key) or "")
    noted["results"]["reranking"] = earlier
    hosts.state.registry.note(key, json.dumps(noted))
    found = noted_specification(hosts.state.registry, served)
    assert found is not None
    assert [stage.model for stage in found.results.reranking if isinstance(stage, Reranking)] == ([] if earlier is None else ["openai/x"])
