"""A state that is new is opened once, however many processes find it."""

import threading
from pathlib import Path
from typing import cast

from docmill.adapters.memory.models import HashEmbeddingModel
from docmill.adapters.memory.state import MemoryState
from docmill.adapters.memory.stores import MemoryLexicalStore, MemoryVectorStore
from docmill.adapters.memory.task_queue import MemoryTaskQueue
from docmill.domain.knowledge_bases import KnowledgeBase, StrategyKind, StrategySpec
from docmill.indexing.index_sets import IndexSets
from docmill.indexing.sources import Source
from docmill.indexing.state_opening import open_state
from docmill.ports.state import KnowledgeBaseState
from support.library import StillClock

SPECIFICATION = KnowledgeBase("kb", Path("/nowhere"), ("/nowhere",), (StrategySpec("words", StrategyKind.BM25, 0.0),))


def test_processes_that_find_a_new_state_at_once_open_it_once() -> None:
    memory = MemoryState("kb")
    state = KnowledgeBaseState(memory.registry, memory.leases, memory.ledger)
    vectors, lexical = MemoryVectorStore(), MemoryLexicalStore()
    opened: list[bool] = []

    def open_it(holder: str) -> None:
        sets = IndexSets(SPECIFICATION, state, vectors, lexical, lambda _: HashEmbeddingModel())
        tasks, no_source = MemoryTaskQueue(), cast("Source", None)  # nothing was indexed: no document is looked at
        opened.append(open_state(state, sets, no_source, tasks, StillClock(), holder=holder, grace_seconds=0.0))

    threads = [threading.Thread(target=open_it, args=(f"host:{number}",)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert opened.count(True) == 1
    assert state.registry.position().epoch == vectors.epoch() == lexical.epoch() == 1
