"""A real Redis that is flushed: the registry is rebuilt from the stores, nothing is embedded twice, and a comparison finds nothing."""

import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import redis

from docmill.adapters.clock import SystemClock
from docmill.adapters.files import FileSource
from docmill.adapters.memory.isolation import MemoryIsolation
from docmill.adapters.memory.models import HashEmbeddingModel
from docmill.adapters.memory.stores import MemoryLexicalStore, MemoryVectorStore
from docmill.adapters.redis.state import RedisState
from docmill.domain.errors import DocmillError, StateLost
from docmill.domain.runs import RunState
from docmill.domain.verification import Verification
from docmill.indexing.anti_entropy import reconcile_stores
from docmill.indexing.committing import Prepared, commit_together
from docmill.indexing.index_sets import index_set_id
from docmill.indexing.leasekeeping import LeaseKeeper
from docmill.indexing.rebuilding import Rebuild
from docmill.indexing.reconciling import Reconciler
from docmill.indexing.sweeping import sweep_safely
from docmill.indexing.targets import Target
from docmill.indexing.verifying import Verifier
from docmill.ports.state import KnowledgeBaseState
from docmill_services.producer.passes import Pass
from docmill_services.producer.scan import Scan
from support.indexing_world import KB, MemoryQueue, line_chunks
from support.redis_server import redis_at_port
from support.waiting import wait_until

FILES = 120


class Site:
    """A folder, two stores and a real Redis, with one worker in a thread."""

    def __init__(self, folder: Path, client: redis.Redis) -> None:
        self.client = client
        state = RedisState(client, "kb")
        self.state = KnowledgeBaseState(state.registry, state.leases, state.ledger)
        self.folder = folder
        self.specification = replace(KB, base_folder=folder, roots=(str(folder),))
        self.source = FileSource(self.specification, folder / ".docmill")
        self.vectors, self.lexical = MemoryVectorStore(), MemoryLexicalStore(refresh_needed=True)
        self.model = HashEmbeddingModel(dimensions=8)
        index_set = index_set_id(self.specification.pipeline_hash, (self.vectors.identity(), self.lexical.identity()))
        self.target = Target(index_set, self.specification, self.vectors, self.lexical, {"dense": self.model})
        self.target.create_indexes()
        self.tasks = MemoryQueue()
        self.clock = SystemClock()
        self.stopping = threading.Event()
        self._at_work = threading.Event()
        self._worker: threading.Thread | None = None

    def open(self) -> None:
        self.vectors.raise_epoch(1)
        self.lexical.raise_epoch(1)
        self.state.registry.raise_epoch(1)
        self.state.registry.serve(self.target.index_set)

    def carry_out_run(self) -> RunState:
        """One run, from the scan to its end."""
        return Pass(
            knowledge_base="kb",
            state=self.state,
            tasks=self.tasks,
            scan=self.scan,
            index_sets=lambda: [self.target.index_set],
            room=lambda: 20,
            stopping=self.stopping,
            timeout_seconds=60.0,
        ).carry_out(self.state.ledger.start_run()[0].id)

    def scan(self) -> Scan:
        return Scan(self.source.selection, self.folder)

    def rebuild(self) -> Rebuild:
        return Rebuild(self.state, [self.target], self.source, self.tasks, self.clock, "host:1", grace_seconds=0.1)

    def verify(self) -> Verification:
        return Verifier(self.state, [self.target], self.source, self.scan(), self.tasks, self.clock, None).verify()

    def start_worker(self) -> None:
        self._at_work.set()
        self._worker = threading.Thread(target=self._work)
        self._worker.start()

    def stop_worker(self) -> None:
        self._at_work.clear()
        if self._worker is not None:
            self._worker.join(20)

    def live(self) -> int:
        return sum(1 for _ in self.state.registry.scan(self.target.index_set))

    def _work(self) -> None:
        keeper = LeaseKeeper(lambda _: self.state.leases, ttl_seconds=30, interval_seconds=5)
        handed_over: list[Prepared] = []
        reconciler = Reconciler(
            state=self.state,
            source=self.source,
            targets=lambda: [self.target],
            chunker=line_chunks,
            isolation=MemoryIsolation(self.source.load, line_chunks),
            submit=handed_over.append,
            keeper=keeper,
            tasks=self.tasks,
            clock=self.clock,
            lease_seconds=30,
            deadline_seconds=600,
        )
        while self._at_work.is_set():
            time.sleep(0 if self.tasks.messages else 0.005)
            try:
                while self.tasks.messages and len(handed_over) < 5:
                    reconciler.reconcile(self.tasks.take())
                if handed_over:
                    commit_together(handed_over, self.state, self.tasks)
            except DocmillError:
                pass  # as a worker does: the ledger sends the documents again
            finally:
                for prepared in handed_over:
                    keeper.let_go(prepared.commit.attempt)
                handed_over.clear()


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    for number in range(FILES):
        (tmp_path / f"{number:03}.txt").write_text(f"text {number}\nand more of {number}\n", encoding="utf-8")
    (tmp_path / "empty.txt").touch()
    with redis_at_port() as port, redis.Redis(host="127.0.0.1", port=port) as client:
        made = Site(tmp_path, client)
        made.open()
        try:
            yield made
        finally:
            made.stop_worker()


def test_a_flush_in_the_middle_of_a_run_costs_nothing_that_was_done(site: Site) -> None:
    site.start_worker()
    states: list[object] = []

    def run() -> None:
        try:
            states.append(site.carry_out_run())
        except StateLost as lost:
            states.append(lost)

    producer = threading.Thread(target=run)
    producer.start()
    wait_until(lambda: site.live() >= FILES // 3, "a third of the files")
    site.client.flushall()
    producer.join(30)
    assert states != [RunState.COMPLETE]
    wait_until(lambda: not site.tasks.messages, "the worker to have met all messages")

    rebuilt = site.rebuild().carry_out()
    assert rebuilt is not None
    assert (rebuilt.epoch, rebuilt.stale) == (2, 0)
    assert rebuilt.served >= FILES // 3
    embedded = site.model.texts
    assert site.carry_out_run() is RunState.COMPLETE
    assert site.model.texts - embedded <= 2 * (FILES - rebuilt.served)
    for _ in range(3):
        sweep_safely(site.state.registry, lambda: [site.target], grace_seconds=0)
    reconcile_stores(site.state, site.target)
    assert site.verify() == Verification(FILES + 1)


def test_a_flushed_index_is_served_whole_again_before_anything_is_indexed(site: Site) -> None:
    site.start_worker()
    assert site.carry_out_run() is RunState.COMPLETE
    before = {document_id: entry.live.generation for document_id, entry in site.state.registry.scan(site.target.index_set) if entry.live}
    site.stop_worker()
    (site.folder / "007.txt").write_text("changed\n", encoding="utf-8")
    (site.folder / "008.txt").unlink()
    site.client.flushall()
    embedded = site.model.texts
    rebuilt = site.rebuild().carry_out()
    assert rebuilt is not None
    assert (rebuilt.served, rebuilt.stale, site.model.texts) == (FILES, 1, embedded)
    after = {document_id: entry.live.generation for document_id, entry in site.state.registry.scan(site.target.index_set) if entry.live}
    del before["empty.txt"]  # it left nothing in a store
    assert before == after
    site.start_worker()
    wait_until(lambda: site.state.ledger.outstanding() == (0, 0), "the changed document")
    assert site.carry_out_run() is RunState.COMPLETE
    assert site.model.texts == embedded + 1
    reconcile_stores(site.state, site.target)
    for _ in range(3):
        sweep_safely(site.state.registry, lambda: [site.target], grace_seconds=0)
    assert site.verify() == Verification(FILES)
