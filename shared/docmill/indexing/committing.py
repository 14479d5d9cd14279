"""Committing: writes prepared documents and makes them visible, many at once.

A prepared document keeps its lease here. One turn takes whatever waits, records the intents, writes to every store in shared batches,
lets one refresh show the writes, and commits in one pipeline. What cannot be committed fails on its own, never with its neighbours.
"""

import queue
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import structlog

from docmill.domain.chunks import ChunkRecord
from docmill.domain.errors import DocmillError, StateSetBack, StoreDown, StoreRejected
from docmill.domain.registry import Attempt, Commit, Intent, Lane, TaskMessage
from docmill.indexing.giving_back import give_back
from docmill.indexing.kept_vectors import PaidVectors, leave_all_on
from docmill.indexing.leasekeeping import LeaseKeeper
from docmill.ports.queue import TaskQueue
from docmill.ports.state import KnowledgeBaseState
from docmill.ports.stores import ChunkStore

_log = structlog.get_logger(__name__)
#: What came of a document, where that is no failure: the last one where a store that is out could not take it.
COMMITTED: Final = "committed"
SUPERSEDED: Final = "superseded"
POSTPONED: Final = "postponed"
#: A worker rests so long after a store was out.
OUTAGE_PAUSE_SECONDS: Final = 2.0


@dataclass(frozen=True, slots=True)
class Write:
    """Records for one physical index."""

    store: ChunkStore
    index: str
    records: Sequence[ChunkRecord]


@dataclass(frozen=True, slots=True)
class Prepared:
    """A document that is ready to be written: what to write, then what to commit.

    Attributes:
        paid: of what is written, what was paid for, so that the next attempt need not pay again where this one is not committed.
    """

    commit: Commit
    writes: tuple[Write, ...] = ()
    paid: tuple[PaidVectors, ...] = ()


def commit_together(
    prepared: Sequence[Prepared], state: KnowledgeBaseState, tasks: TaskQueue, stopping: Callable[[], bool] = lambda: False
) -> dict[int, str]:
    """Writes and commits documents of one knowledge base.

    What cannot be written while ``stopping`` has not failed: it is given back at the end, and the next start goes on with it. What cannot
    be written since a store is out has not failed either: it is given back at once.

    Returns:
        By generation, what came of it: ``committed``, ``superseded``, ``postponed``, or the reason of its failure.

    Raises:
        StoreDown: the registry does not answer; leases will run out and the ledger sends the documents again.
    """
    outcomes: dict[int, str] = {}
    alive = _record_intents(prepared, state, outcomes)
    failures = _write(alive)
    postponed: list[Attempt] = []
    for item in alive:
        attempt, error = item.commit.attempt, failures.get(item.commit.attempt.generation)
        if error is None:
            continue
        is_out = isinstance(error, StoreDown)
        outcomes[attempt.generation] = POSTPONED if is_out else _reason(error)
        if stopping():
            continue
        if is_out:
            postponed.append(attempt)
        else:
            _send_next(tasks, [state.ledger.finish(attempt, failed=_reason(error)).next_message])
    if postponed:
        _log.warning("documents_postponed", count=len(postponed), error=str(failures[postponed[0].generation]))
        give_back(postponed, lambda _: state.ledger, tasks)
    written = [item for item in alive if item.commit.attempt.generation not in failures]
    results = state.registry.commit([item.commit for item in written]) if written else []
    for item, result in zip(written, results, strict=True):
        outcomes[item.commit.attempt.generation] = COMMITTED if result.committed else SUPERSEDED
    _send_next(tasks, [result.next_message for result in results])
    return outcomes


def _record_intents(prepared: Sequence[Prepared], state: KnowledgeBaseState, outcomes: dict[int, str]) -> list[Prepared]:
    writing = [item for item in prepared if item.writes]
    if not writing:
        return list(prepared)
    accepted = state.registry.intents([Intent(item.commit.attempt, item.commit.fingerprint, item.commit.chunks) for item in writing])
    refused = {item.commit.attempt.generation for item, ok in zip(writing, accepted, strict=True) if not ok}
    outcomes.update(dict.fromkeys(refused, SUPERSEDED))
    return [item for item in prepared if item.commit.attempt.generation not in refused]


def _write(prepared: Sequence[Prepared]) -> dict[int, DocmillError]:
    """Writes everything; returns why, for each generation that could not be written."""
    stores: dict[str, ChunkStore] = {}
    by_index: defaultdict[str, list[ChunkRecord]] = defaultdict(list)
    for item in prepared:
        for write in item.writes:
            stores[write.index] = write.store
            by_index[write.index].extend(write.records)
    failures: dict[int, DocmillError] = {}
    for index, records in by_index.items():
        store = stores[index]
        failures.update(_write_index(store, index, [record for record in records if record.generation not in failures]))
        try:
            store.refresh(index)
        except DocmillError as error:
            failures.update({record.generation: error for record in records})
    return failures


def _write_index(store: ChunkStore, index: str, records: Sequence[ChunkRecord]) -> dict[int, DocmillError]:
    try:
        store.write(index, records)
    except StoreRejected as error:
        generations = {record.generation for record in records}
        if len(generations) == 1:
            return dict.fromkeys(generations, error)
        failures: dict[int, DocmillError] = {}
        for generation in generations:
            failures.update(_write_index(store, index, [record for record in records if record.generation == generation]))
        return failures
    except DocmillError as error:
        return {record.generation: error for record in records}
    return {}


def _reason(error: DocmillError) -> str:
    return f"{error.code}: {error}"


def _send_next(tasks: TaskQueue, messages: Iterable[TaskMessage | None]) -> None:
    wanted = [message for message in messages if message is not None]
    if not wanted:
        return
    try:
        tasks.send(wanted, Lane.LIVE)
    except StoreDown as error:
        _log.warning("messages_not_sent", count=len(wanted), error=str(error), then="the ledger sends them again")


class Committer:
    """The thread of a worker process that commits what its tasks have prepared."""

    def __init__(
        self,
        state_of: Callable[[str], KnowledgeBaseState],
        tasks: TaskQueue,
        keeper: LeaseKeeper,
        *,
        linger_seconds: float,
        live_linger_seconds: float,
        max_documents: int = 500,
        max_chunks: int = 200,
        waiting: int = 128,
    ) -> None:
        """Nothing runs before ``start``.

        Args:
            state_of: the state of a knowledge base by its name.
            tasks: takes the messages of documents that were changed meanwhile.
            keeper: holds the leases until the commit.
            linger_seconds: how long a turn waits for company; 0 where stores show writes at once.
            live_linger_seconds: the same when a watched change is waiting.
            max_documents: in one turn.
            max_chunks: a turn that has gathered so many takes no more documents.
            waiting: prepared documents that may wait; ``submit`` blocks beyond.
        """
        self._state_of = state_of
        self._tasks = tasks
        self._keeper = keeper
        self._linger_seconds = linger_seconds
        self._live_linger_seconds = live_linger_seconds
        self._max_documents = max_documents
        self._max_chunks = max_chunks
        self._waiting: queue.Queue[Prepared | None] = queue.Queue(waiting)
        self._thread = threading.Thread(target=self._commit_until_stopped, name="docmill-committer", daemon=True)

    def start(self) -> None:
        """Starts the thread."""
        self._thread.start()

    @property
    def alive(self) -> bool:
        """Whether the thread runs."""
        return self._thread.is_alive()

    def submit(self, prepared: Prepared) -> None:
        """Hands a document over; blocks while too many wait."""
        self._waiting.put(prepared)

    def stop(self, timeout_seconds: float) -> bool:
        """Commits what waits, then ends; False when that took longer than ``timeout_seconds``."""
        try:
            self._waiting.put(None, timeout=timeout_seconds)
        except queue.Full:
            return False
        self._thread.join(timeout_seconds)
        return not self._thread.is_alive()

    def _commit_until_stopped(self) -> None:
        going = True
        while going:
            turn, going = self._gather()
            by_knowledge_base: defaultdict[str, list[Prepared]] = defaultdict(list)
            for prepared in turn:
                by_knowledge_base[prepared.commit.attempt.knowledge_base].append(prepared)
            for knowledge_base, documents in by_knowledge_base.items():
                self._commit(knowledge_base, documents)

    def _gather(self) -> tuple[list[Prepared], bool]:
        """The documents of one turn, and whether more may come."""
        turn: list[Prepared] = []
        chunks = 0
        deadline: float | None = None
        while len(turn) < self._max_documents and chunks < self._max_chunks:
            try:
                if deadline is None:
                    item = self._waiting.get()
                elif (left := deadline - time.monotonic()) > 0:
                    item = self._waiting.get(timeout=left)
                else:
                    item = self._waiting.get_nowait()
            except queue.Empty:
                break
            if item is None:
                return turn, False
            turn.append(item)
            chunks += sum(len(write.records) for write in item.writes)
            linger = self._live_linger_seconds if item.commit.attempt.lane is Lane.LIVE else self._linger_seconds
            deadline = min(deadline or float("inf"), time.monotonic() + linger)
        return turn, True

    def _commit(self, knowledge_base: str, documents: Sequence[Prepared]) -> None:
        outcomes: Mapping[int, str] = {}
        try:
            outcomes = commit_together(documents, self._state_of(knowledge_base), self._tasks, lambda: self._keeper.stopped)
            for item in documents:
                outcome = outcomes[item.commit.attempt.generation]
                if outcome not in (COMMITTED, SUPERSEDED, POSTPONED):
                    _log.warning("document_failed", document_id=item.commit.attempt.document_id, reason=outcome)
        except DocmillError as error:
            _log.warning("documents_not_committed", count=len(documents), error=str(error), then="the ledger sends them again")
            if isinstance(error, StateSetBack):
                self._keeper.lose(knowledge_base)
        except Exception:  # noqa: BLE001
            # The thread serves every document of the process: it outlives a defect, and the leases of this turn run out.
            _log.exception("commit_turn_failed", count=len(documents))
        else:
            if POSTPONED in outcomes.values():
                self._keeper.pause(OUTAGE_PAUSE_SECONDS)
        finally:
            for item in documents:
                if item.paid and outcomes.get(item.commit.attempt.generation) != COMMITTED:
                    leave_all_on(self._state_of(knowledge_base).ledger, item.paid)
                self._keeper.let_go(item.commit.attempt)
