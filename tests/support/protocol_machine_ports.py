"""The ports of the machine's system: each call may be a pausing place, may fail, and is noted in the history."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from docmill.adapters.memory.state_registry import MemoryRegistry
from docmill.domain.chunks import ChunkRecord, StoredGeneration
from docmill.domain.errors import DocmillError, ProviderTransient, RootUnavailable, StoreDown
from docmill.domain.registry import (
    Attempt,
    Commit,
    CommitResult,
    Entry,
    Garbage,
    Intent,
    Lane,
    Position,
    QueueDepth,
    TaskMessage,
)
from docmill.indexing.sources import Content
from docmill.ports.ledger import RunLedger
from docmill.ports.stores import ChunkStore
from support.protocol_machine_activities import Fault, Port, Switch
from support.protocol_machine_history import History
from support.protocol_machine_source import DOCUMENTS, ChangingSource


class RegistryPort(Port):
    """Registry: what takes one step per item can be interrupted between two."""

    def __init__(self, switch: Switch, inner: MemoryRegistry, history: History, index_set: str) -> None:
        super().__init__(switch, "registry", inner, StoreDown)
        self.history = history
        self._index_set = index_set

    def position(self) -> Position:
        position: Position = self._call("position", self._position)
        return position

    def _position(self) -> Position:
        position: Position = self._inner.position()
        self.history.note_live(position.epoch, position.commit, self._entries())
        return position

    def intents(self, intents: Sequence[Intent]) -> list[bool]:
        return [self._call("intents", partial(self._inner.intents, [item]))[0] for item in intents]

    def commit(self, commits: Sequence[Commit]) -> list[CommitResult]:
        return [self._call("commit", partial(self._commit, item)) for item in commits]

    def settle_garbage(self, garbage: Sequence[Garbage]) -> None:
        for item in garbage:
            self._call("settle_garbage", partial(self._inner.settle_garbage, [item]))

    def scan(self, index_set: str) -> Iterator[tuple[str, Entry]]:
        found: list[tuple[str, Entry]] = self._call("scan", lambda: list(self._inner.scan(index_set)))
        return iter(found)

    def _commit(self, commit: Commit) -> CommitResult:
        result: CommitResult = self._inner.commit([commit])[0]
        if result.committed:
            entry = self._entries().get(commit.attempt.document_id)
            live = entry is not None and entry.live is not None and entry.live.generation == commit.attempt.generation
            self.history.committed(commit.attempt, commit.fingerprint, live=live)
        return result

    def _entries(self) -> dict[str, Entry]:
        entries: dict[str, Entry] = self._inner.entries(self._index_set, DOCUMENTS)[1]
        return entries


class LedgerPort(Port):
    """The ledger: notes what it promised, and which activity made which attempt."""

    def __init__(self, switch: Switch, inner: RunLedger, history: History, source: ChangingSource) -> None:
        super().__init__(switch, "ledger", inner, StoreDown)
        self.history = history
        self._source = source

    def enqueue(self, document_ids: Sequence[str], lane: Lane, *, run_id: str = "") -> list[TaskMessage]:
        messages: list[TaskMessage] = self._call("enqueue", lambda: self._enqueue(document_ids, lane, run_id))
        return messages

    def _enqueue(self, document_ids: Sequence[str], lane: Lane, run_id: str) -> list[TaskMessage]:
        messages: list[TaskMessage] = self._inner.enqueue(document_ids, lane, run_id=run_id)
        run = self._inner.run(run_id)
        if run is None or not run.state.final:
            for document_id in document_ids:
                self.history.announced[document_id] = self._source.files[document_id].number
        return messages

    def begin(self, message: TaskMessage, lease_seconds: float) -> Attempt | None:
        attempt: Attempt | None = self._call("begin", lambda: self._inner.begin(message, lease_seconds))
        if self._switch.running is not None and attempt is not None:
            self._switch.running.attempts.append(attempt)
        return attempt

    def finish(self, attempt: Attempt, *, unchanged: object = None, failed: str = "", **named: object) -> CommitResult:
        assert not failed.startswith("internal"), failed

        def effect() -> CommitResult:
            result: CommitResult = self._inner.finish(attempt, unchanged=unchanged, failed=failed, **named)
            if result.committed and unchanged:
                self.history.found_unchanged(attempt)
            return result

        finished: CommitResult = self._call("finish", effect)
        return finished


class SourcePort(Port):
    """The source: notes which state of a file an attempt read."""

    def __init__(self, switch: Switch, inner: ChangingSource, history: History) -> None:
        super().__init__(switch, "source", inner, RootUnavailable)
        self.history = history

    def strategies_for(self, document_id: str) -> tuple[str, ...]:
        return ("dense", "words")

    def read(self, document_id: str) -> Content | None:
        content: Content | None = self._call("read", lambda: self._read(document_id))
        return content

    def _read(self, document_id: str) -> Content | None:
        running = self._switch.running
        if running is not None:
            self.history.read[running.attempts[-1].generation] = self._inner.files[document_id]
        content: Content | None = self._inner.read(document_id)
        return content


@dataclass(frozen=True, slots=True)
class LateWrite:
    """A write that timed out and has not landed yet."""

    store: ChunkStore
    index: str
    records: Sequence[ChunkRecord]
    sent_at: float

    def land(self) -> None:
        self.store.write(self.index, self.records)


class StorePort(Port):
    """A store: sends a write in two pieces; a late one lands when the machine says so."""

    def __init__(self, switch: Switch, name: str, inner: ChunkStore, late: list[LateWrite], now: Callable[[], float]) -> None:
        super().__init__(switch, name, inner, StoreDown)
        self._late = late
        self._now = now

    def write(self, index: str, records: Sequence[ChunkRecord]) -> None:
        half = (len(records) + 1) // 2
        for piece in (records[:half], records[half:]):
            if piece:
                self._write(index, piece)

    def _write(self, index: str, records: Sequence[ChunkRecord]) -> None:
        fault = self._switch.before(f"{self._name}.write")
        if fault is Fault.LATE:
            self._late.append(LateWrite(self._inner, index, records, self._now()))
        if fault in (Fault.LATE, Fault.REFUSED):
            raise StoreDown(f"{self._name} did not answer in time")
        self._inner.write(index, records)
        if fault is Fault.UNANSWERED:
            raise StoreDown(f"{self._name} did not answer in time")

    def generations(self, index: str) -> Iterator[StoredGeneration]:
        found: list[StoredGeneration] = self._call("generations", lambda: list(self._inner.generations(index)))
        return iter(found)


def provider_error(text: str) -> DocmillError:
    """What a model raises that fails for a while."""
    return ProviderTransient(text)


class Broker:
    """A queue that loses, doubles and reorders messages when the machine wants it to."""

    def __init__(self) -> None:
        self.waiting: list[TaskMessage] = []
        self.unacknowledged: list[TaskMessage] = []

    def send(self, messages: Sequence[TaskMessage], lane: Lane) -> None:
        self.waiting.extend(messages)

    def depth(self) -> QueueDepth:
        return QueueDepth(0, len(self.waiting), len(self.unacknowledged))

    def purge(self) -> None:
        self.waiting.clear()
        self.unacknowledged.clear()
