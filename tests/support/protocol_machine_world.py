"""The system that the protocol machine drives: the real protocol code over twins in memory, every call a place to be interrupted."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from docmill.adapters.memory.isolation import MemoryIsolation
from docmill.adapters.memory.models import HashEmbeddingModel
from docmill.adapters.memory.state import MemoryState
from docmill.adapters.memory.state_data import StateData
from docmill.domain.chunks import ChunkFilter
from docmill.domain.errors import StoreDown
from docmill.domain.registry import Entry, Lane, TaskMessage
from docmill.domain.runs import RunState
from docmill.indexing.anti_entropy import reconcile_stores
from docmill.indexing.committing import Prepared, commit_together
from docmill.indexing.reconciling import Reconciler
from docmill.indexing.reopening import reopen_if_set_back
from docmill.indexing.sweeping import sweep
from docmill.indexing.targets import Target
from docmill.ports.models import Caller
from docmill.ports.state import KnowledgeBaseState
from docmill.retrieval.query_vectors import QueryVectors
from docmill.retrieval.retrievers import LexicalRetriever, Retriever, VectorRetriever
from docmill.retrieval.snapshot import Snapshot, SnapshotReader
from docmill_services.producer.passes import Pass
from support.indexing_world import INDEX_SET, KB, ManualClock, line_chunks
from support.protocol_machine_activities import Activity, Pausing, Port, Switch
from support.protocol_machine_history import History
from support.protocol_machine_parts import Parts, Saved, UnhurriedKeeper, Worker
from support.protocol_machine_ports import Broker, LateWrite, LedgerPort, RegistryPort, SourcePort, StorePort, provider_error
from support.protocol_machine_source import ChangingSource, SourceScan

LEASE_SECONDS: Final = 30.0
RENEWAL_SECONDS: Final = 5.0
QUERY_SECONDS: Final = 10.0
REQUEST_SECONDS: Final = 20.0
QUERY: Final = "apple"
CALLER: Final = Caller(KB.name, is_query=True)
#: Everything is found: a page takes every chunk that there can be.
MACHINE_KB: Final = replace(KB, strategies=tuple(replace(strategy, threshold=-1.0, limit=500) for strategy in KB.strategies))


class ProtocolWorld:
    """One knowledge base with two workers, a producer, a sweeper, and queries."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self.clock = ManualClock()
        self.switch = Switch()
        self.history = History()
        self.source = ChangingSource()
        self.broker = Broker()
        self.late_writes: list[LateWrite] = []
        self.activities: list[Activity] = []
        self.saved: Saved | None = None
        self.damaged: set[str] = set()
        self._open_state(parts)
        self._open_stores(parts)
        self.isolation = MemoryIsolation(self.source.load, line_chunks)
        self.workers = [self._new_worker(number) for number in range(2)]
        states = {"kb": self.state}
        broker: Any = Port(self.switch, "broker", self.broker, StoreDown)
        self._pump = parts.pump(states, broker, lambda: states, monotonic=self.clock.monotonic)
        self._query_vectors = QueryVectors()
        self._query_vectors.vector_of(self._raw_model, QUERY, CALLER)
        self._executor = ThreadPoolExecutor(1)
        self._reader = SnapshotReader("kb", parts.query_registry(self.registry), self._executor, self.clock)

    def _open_state(self, parts: Parts) -> None:
        self.memory = MemoryState("kb", self.clock)
        step = self.memory._step
        self.memory.registry, self.memory.leases, self.memory.ledger = parts.registry(step), parts.leases(step), parts.ledger(step)
        self.registry: Any = RegistryPort(self.switch, self.memory.registry, self.history, INDEX_SET)
        ledger: Any = LedgerPort(self.switch, self.memory.ledger, self.history, self.source)
        leases: Any = Port(self.switch, "leases", self.memory.leases, StoreDown)
        self.state = KnowledgeBaseState(self.registry, leases, ledger)
        self.memory.registry.raise_epoch(1)
        self.memory.registry.serve(INDEX_SET)

    def _open_stores(self, parts: Parts) -> None:
        self.raw_vectors, self.raw_lexical = parts.vectors(), parts.lexical(refresh_needed=True)
        self._raw_model = HashEmbeddingModel(dimensions=8)
        vectors: Any = StorePort(self.switch, "vectors", self.raw_vectors, self.late_writes, self.clock)
        lexical: Any = StorePort(self.switch, "lexical", self.raw_lexical, self.late_writes, self.clock)
        model: Any = Port(self.switch, "model", self._raw_model, provider_error)
        self.target = Target(INDEX_SET, MACHINE_KB, vectors, lexical, {"dense": model})
        self.raw_target = Target(INDEX_SET, MACHINE_KB, self.raw_vectors, self.raw_lexical, {"dense": self._raw_model})
        self.raw_target.create_indexes()
        self.raw_vectors.raise_epoch(1)
        self.raw_lexical.raise_epoch(1)

    def _new_worker(self, number: int) -> Worker:
        return Worker(number, UnhurriedKeeper(lambda _: self.state.leases, ttl_seconds=LEASE_SECONDS, interval_seconds=RENEWAL_SECONDS))

    def close(self) -> None:
        for activity in self.activities:
            activity.kill()
        self._executor.shutdown()

    # ---- what can be begun; each returns an activity that has not run yet

    def begin(self, name: str, work: Callable[[], object], worker: int | None = None, *, waits: bool = False) -> Activity:
        activity = Activity(self.switch, name, work, worker=worker, started_at=self.clock.now, waits=waits)
        self.activities.append(activity)
        return activity

    def attempt(self, message: TaskMessage, number: int) -> Activity:
        """A worker takes a message that it has received."""
        worker = self.workers[number]
        reconciler = Reconciler(
            state=self.state,
            source=SourcePort(self.switch, self.source, self.history),
            targets=lambda: [self.target],
            chunker=line_chunks,
            isolation=self.isolation,
            submit=worker.handed_over.append,
            keeper=worker.keeper,
            tasks=self._tasks(),
            clock=self.clock,
            lease_seconds=LEASE_SECONDS,
            deadline_seconds=600.0,
        )

        def work() -> None:
            with suppress(StoreDown):  # the task ends as it does in a worker: acknowledged, its lease runs out
                reconciler.reconcile(message)
            self.broker.unacknowledged.remove(message)

        self.broker.unacknowledged.append(message)
        activity = self.begin(f"attempt on {message.document_id}", work, number)
        activity.message = message
        return activity

    def commit_turn(self, number: int, documents: Sequence[Prepared]) -> Activity:
        """One turn of a worker's committer."""
        worker = self.workers[number]
        for prepared in documents:
            worker.handed_over.remove(prepared)

        def work() -> None:
            try:
                outcomes = commit_together(documents, self.state, self._tasks())
                self._check_outcomes(outcomes)
            finally:
                for prepared in documents:
                    worker.keeper.let_go(prepared.commit.attempt)

        activity = self.begin(f"commit of {len(documents)}", work, number)
        activity.attempts = [prepared.commit.attempt for prepared in documents]
        return activity

    def _check_outcomes(self, outcomes: dict[int, str]) -> None:
        for generation, outcome in outcomes.items():
            if outcome != "committed":
                assert generation not in self.history.ever_live, f"g{generation} became live, but its outcome is {outcome!r}"

    def announcement(self, document_id: str, lane: Lane) -> Activity:
        """A change is noticed."""
        return self.begin(
            f"announcement of {document_id}", lambda: self._tasks().send(self.state.ledger.enqueue([document_id], lane), lane)
        )

    def scan(self) -> Activity:
        """The producer carries out the run that is going on, or a new one."""

        scan: Any = SourceScan(self.source)

        def work() -> RunState:
            run = self.state.ledger.start_run()[0]
            return Pass(
                knowledge_base="kb",
                state=self.state,
                tasks=self._tasks(),
                scan=lambda: scan,
                index_sets=lambda: [INDEX_SET],
                room=lambda: 1000,
                stopping=Pausing(self.switch),
                timeout_seconds=None,
            ).carry_out(run.id)

        return self.begin("scan", work, waits=True)

    def pump_turn(self) -> Activity:
        return self.begin("pump", self._pump.turn)

    def sweep_round(self) -> Activity:
        grace = self.parts.sweep_grace_seconds
        return self.begin("sweep", lambda: sweep(self.registry, [self.target], grace_seconds=grace))

    def comparison(self) -> Activity:
        def work() -> None:
            repair = reconcile_stores(self.state, self.target)
            self._tasks().send(repair.messages, Lane.BULK)

        return self.begin("comparison", work)

    def query(self) -> Activity:
        vectors, words = MACHINE_KB.strategies
        retrievers: list[Retriever] = [
            VectorRetriever(vectors, self.target.vectors, self._raw_model, CALLER, self._query_vectors, in_process=True),
            LexicalRetriever(words, self.target.lexical, in_process=True),
        ]

        def work() -> Snapshot:
            return self._reader.read(retrievers, QUERY, ChunkFilter(), self.clock.now + QUERY_SECONDS)

        return self.begin("query", work)

    def _tasks(self) -> Any:
        return Port(self.switch, "broker", self.broker, StoreDown)

    # ---- faults and time

    def kill_worker(self, number: int, *, messages_return: bool) -> None:
        """The process dies: what it had in memory is gone; what it had not acknowledged returns or is lost."""
        running = [activity for activity in self.activities if activity.worker == number]
        for activity in running:
            activity.kill()
            if activity.message is not None:
                self.broker.unacknowledged.remove(activity.message)
                if messages_return:
                    self.broker.waiting.append(activity.message)
        self.workers[number] = self._new_worker(number)
        self.forget_ended()

    def kill_newest_other(self) -> None:
        """The producer, the sweeper or a query service dies, whichever began something last."""
        for activity in [activity for activity in self.activities if activity.worker is None][-1:]:
            activity.kill()
        self.forget_ended()

    def forget_ended(self) -> list[Activity]:
        ended = [activity for activity in self.activities if activity.ended]
        self.activities = [activity for activity in self.activities if not activity.ended]
        return ended

    def pass_time(self, seconds: float, *, renewing: bool) -> None:
        """Lets time pass; with ``renewing`` the workers' keepers do their work meanwhile."""
        until = self.clock.now + seconds
        while self.clock.now < until:
            self.clock.now = min(until, self.clock.now + RENEWAL_SECONDS)
            if renewing:
                for worker in self.workers:
                    worker.keeper.renew_all()
                for activity in self.activities:
                    if activity.worker is not None and not self._has_lost_a_lease(activity, self.workers[activity.worker]):
                        activity.renewed_at = self.clock.now

    @staticmethod
    def _has_lost_a_lease(activity: Activity, worker: Worker) -> bool:
        return any(worker.keeper.is_lost(attempt) for attempt in activity.attempts)

    def raise_epoch(self) -> None:
        """What every start does first."""
        epoch = max(self.raw_vectors.epoch(), self.raw_lexical.epoch(), self.memory.registry.position().epoch) + 1
        self.raw_vectors.raise_epoch(epoch)
        self.raw_lexical.raise_epoch(epoch)
        self.memory.registry.raise_epoch(epoch)

    def restart(self) -> None:
        """Every process ends and starts again, as the one-machine profile does it."""
        for activity in self.activities:
            activity.kill()
        self.forget_ended()
        self.workers = [self._new_worker(number) for number in range(2)]
        self.raise_epoch()
        self.broker.purge()
        self.memory.leases.expire_all()
        run = self.memory.ledger.current_run()
        if run is not None and not run.state.final:
            self.memory.ledger.end_run(run.id, RunState.CANCELLED)
            self.history.announced.clear()  # what waited is planned again by the next scan

    def save(self) -> None:
        self.saved = Saved(self.memory.snapshot(), dict(self.history.shown), self.clock.now)

    def set_back(self) -> None:
        """The registry's server comes back with what it had on disk; ``reopen`` follows."""
        assert self.saved is not None
        self.memory.restore(self.saved.data)
        self.memory.replace_server()
        self.history.shown.clear()
        self.history.shown.update(self.saved.shown)
        self.history.announced.clear()
        self.saved = None

    def reopen(self) -> None:
        """A new epoch, and a full scan."""
        raw = KnowledgeBaseState(self.memory.registry, self.memory.leases, self.memory.ledger)
        assert reopen_if_set_back(raw, (self.raw_vectors, self.raw_lexical), self.broker, "kb")

    def flush(self) -> None:
        """The registry loses everything; its epoch is 0 until it is rebuilt."""
        self.memory.restore(StateData("kb"))
        self.history.shown.clear()
        self.history.announced.clear()
        self.saved = None

    def rebuild(self) -> None:
        """The registry is made again from the stores."""
        state = KnowledgeBaseState(self.memory.registry, self.memory.leases, self.memory.ledger)
        rebuild = self.parts.rebuild(state, [self.raw_target], self.source, self.broker, self.clock, "producer", grace_seconds=0.0)
        assert rebuild.carry_out() is not None

    def lose_chunks(self, document_id: str) -> None:
        """A store loses the chunks of a document's live version."""
        entry = self.entry(document_id)
        if entry is not None and entry.live is not None and entry.live.chunks:
            index = self.raw_target.index("words")
            self.raw_lexical.delete(index, document_id, entry.live.generation, 1)
            self.raw_lexical.refresh(index)
            self.damaged.add(document_id)

    # ---- looking

    def entry(self, document_id: str) -> Entry | None:
        return self.memory.registry.entries(INDEX_SET, [document_id])[1].get(document_id)

    def stored_texts(self, strategy: str, document_id: str, generation: int) -> list[str]:
        store = self.raw_target.store(MACHINE_KB.strategy(strategy))
        return [record.text for record in store.chunks_of(self.raw_target.index(strategy), document_id, generation)]
