"""Planted defects: each is the system with one rule of the protocol taken away, for the machine to find.

``override`` keeps them planted: a method that the system has no more would take nothing away.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from typing_extensions import override

from docmill.adapters.memory.state_data import LeaseRecord
from docmill.adapters.memory.state_ledger import MemoryLeases, MemoryLedger
from docmill.adapters.memory.state_registry import MemoryRegistry
from docmill.adapters.memory.stores import MemoryLexicalStore
from docmill.domain.chunks import ChunkRecord
from docmill.domain.registry import Attempt, Commit, CommitResult, Entry, Garbage, Intent, Lane, Position, TaskMessage
from docmill.indexing.rebuilding import Rebuild
from docmill_services.producer.pump import Pump
from support.protocol_machine_parts import Parts


class CommitsWithoutLease(MemoryRegistry):
    """Commits whether or not the lease is still the attempt's."""

    @override
    def commit(self, commits: Sequence[Commit]) -> list[CommitResult]:
        return [self._commit(commit) for commit in commits]

    def _commit(self, commit: Commit) -> CommitResult:
        attempt, document_id = commit.attempt, commit.attempt.document_id
        with self._step() as (data, now):
            held = data.holds(attempt, now)
            lease, entry = data.leases.get(document_id), data.ledger.get(document_id)
            data.leases[document_id] = LeaseRecord(attempt.generation, now + 1000)
        (result,) = super().commit([commit])
        if not held:
            with self._step() as (data, _):
                if lease is None:
                    data.leases.pop(document_id, None)
                else:
                    data.leases[document_id] = lease
                if entry is not None:
                    data.ledger[document_id] = entry
        return result


class SweepsLeased(MemoryRegistry):
    """Gives out garbage that an attempt in work still holds."""

    @override
    def due_garbage(self, grace_seconds: float, limit: int) -> list[Garbage]:
        with self._step() as (data, now):
            return [
                record.garbage
                for generation, record in data.garbage.items()
                if record.noted_ms + grace_seconds * 1000 <= now and not data.is_live(record.garbage.document_id, generation)
            ][:limit]


class DeletesOnce(MemoryRegistry):
    """Forgets garbage after the first deletion."""

    @override
    def settle_garbage(self, garbage: Sequence[Garbage]) -> None:
        with self._step() as (data, _):
            for item in garbage:
                data.garbage.pop(item.generation, None)


class RecordsNoIntent(MemoryRegistry):
    """Does not know how many chunks an attempt is going to write."""

    @override
    def intents(self, intents: Sequence[Intent]) -> list[bool]:
        with self._step() as (data, now):
            return [data.holds(intent.attempt, now) for intent in intents]


class MarksNothing(MemoryRegistry):
    """Does not note that a live version is not whole."""

    @override
    def mark(self, index_set: str, document_id: str, generation: int) -> None:
        pass


class KnowsEveryGeneration(MemoryRegistry):
    """Takes every generation that a store holds for one that somebody knows."""

    @override
    def unknown_generations(self, index_set: str, generations: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
        return []


class CallsAllUnknownWhenEmptied(MemoryRegistry):
    """Takes every generation for one that nobody knows after it has lost what it knew."""

    @override
    def unknown_generations(self, index_set: str, generations: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
        if not self.position().epoch:
            return list(generations)
        return super().unknown_generations(index_set, generations)


class RebuildsInAnOldEpoch(Rebuild):
    """Opens the registry again in the epoch that the stores know already."""

    @override
    def _next_epoch(self, known: int) -> int:
        return max(known, 1, *(store.epoch() for target in self.targets for store in (target.vectors, target.lexical)))


class EnqueuesWithoutDirty(MemoryLedger):
    """Forgets a change of a document that is in work."""

    @override
    def enqueue(self, document_ids: Sequence[str], lane: Lane, *, run_id: str = "") -> list[TaskMessage]:
        with self._step() as (data, now):
            free = [document_id for document_id in document_ids if not data.is_leased(document_id, now)]
        return super().enqueue(free, lane, run_id=run_id)


class FinishesWithoutLease(MemoryLedger):
    """Ends the ticket of an attempt that lost its lease long ago."""

    @override
    def finish(
        self,
        attempt: Attempt,
        *,
        unchanged: Mapping[str, str] | None = None,
        failed: str = "",
        stat: str = "",
        counters: Mapping[str, int] | None = None,
    ) -> CommitResult:
        with self._step() as (data, now):
            if not data.holds(attempt, now):
                data.leases.pop(attempt.document_id, None)
                data.dirty.discard(attempt.document_id)
                data.ledger.pop(attempt.document_id, None)
                return CommitResult(False)
        return super().finish(attempt, unchanged=unchanged, failed=failed, stat=stat, counters=counters)


class ForgetsExpired(MemoryLedger):
    """Sends no document again whose lease ran out."""

    @override
    def resend_expired(self, limit: int, *, suspects: bool = True) -> list[TaskMessage]:
        return []


class RevivesLeases(MemoryLeases):
    """Prolongs a lease that has run out."""

    @override
    def renew(self, attempts: Sequence[Attempt], ttl_seconds: float) -> list[bool]:
        with self._step() as (data, now):
            for attempt in attempts:
                lease = data.leases.get(attempt.document_id)
                if lease is not None and lease.generation == attempt.generation:
                    lease.expires_ms = max(lease.expires_ms, now + 1)
        return super().renew(attempts, ttl_seconds)


class RefreshesLater(MemoryLexicalStore):
    """Returns from a refresh before what was written is visible."""

    @override
    def refresh(self, index: str) -> None:
        pass


class TakesTimeoutsForSuccess(MemoryLexicalStore):
    """Loses the second half of a large write without saying so."""

    @override
    def write(self, index: str, records: Sequence[ChunkRecord]) -> None:
        super().write(index, [record for record in records if record.index < 2])


class QueryRegistry:
    """Reads entries for queries; passes everything else on."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def position(self) -> Position:
        position: Position = self.inner.position()
        return position

    def entries(self, index_set: str, document_ids: Sequence[str]) -> tuple[int, dict[str, Entry]]:
        epoch, entries = self.inner.entries(index_set, document_ids)
        return epoch, {document_id: self.seen(entry) for document_id, entry in entries.items()}

    def entries_now(self, index_set: str, document_ids: Sequence[str]) -> tuple[Position, dict[str, Entry]]:
        position, entries = self.inner.entries_now(index_set, document_ids)
        return position, {document_id: self.seen(entry) for document_id, entry in entries.items()}

    def seen(self, entry: Entry) -> Entry:
        return entry


class AcceptsNewest(QueryRegistry):
    """Lets queries accept what is live now, not what was live at their commit number."""

    @override
    def seen(self, entry: Entry) -> Entry:
        return entry if entry.live is None else replace(entry, live=replace(entry.live, commit=0))


class NeverSearchesAgain(QueryRegistry):
    """Lets queries accept the previous version although it is too new."""

    @override
    def seen(self, entry: Entry) -> Entry:
        return entry if entry.previous is None else replace(entry, previous=replace(entry.previous, commit=0))


class ForgetsLost(Pump):
    """Sends no document again whose message was lost."""

    @override
    def _resend_lost(self) -> int:
        return 0


#: By the rule that is missing.
PLANTS: Mapping[str, Parts] = {
    "commit needs the lease": Parts(registry=CommitsWithoutLease),
    "the sweeper spares what is leased": Parts(registry=SweepsLeased),
    "the sweeper waits the grace": Parts(sweep_grace_seconds=0.0),
    "what is swept is deleted twice": Parts(registry=DeletesOnce, anti_entropy=False, set_back=False),
    "an intent is recorded before the first write": Parts(registry=RecordsNoIntent, anti_entropy=False, set_back=False),
    "what nobody knows is removed": Parts(registry=KnowsEveryGeneration),
    "a registry that was emptied calls nothing unknown": Parts(registry=CallsAllUnknownWhenEmptied),
    "a rebuild opens a new epoch": Parts(rebuild=RebuildsInAnOldEpoch),
    "a version that is not whole is marked": Parts(registry=MarksNothing),
    "enqueue notes a change of a document in work": Parts(ledger=EnqueuesWithoutDirty),
    "finish needs the lease": Parts(ledger=FinishesWithoutLease),
    "a document whose lease ran out is sent again": Parts(ledger=ForgetsExpired),
    "a document whose message was lost is sent again": Parts(pump=ForgetsLost),
    "an expired lease is never revived": Parts(leases=RevivesLeases),
    "writes are visible before the commit": Parts(lexical=RefreshesLater),
    "a write is acknowledged whole": Parts(lexical=TakesTimeoutsForSuccess),
    "a query accepts what was live at its commit number": Parts(query_registry=AcceptsNewest),
    "a query searches again when the previous version is too new": Parts(query_registry=NeverSearchesAgain),
}
