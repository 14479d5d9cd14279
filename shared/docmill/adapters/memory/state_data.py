"""What the state of one knowledge base holds in memory, and the rules that several of its methods share.

Times are whole milliseconds of the state's clock. Counts are never kept: they are made from the entries whenever they are asked for.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from docmill.domain.chunks import Vector
from docmill.domain.errors import NotLeader, StateLost, StateSetBack
from docmill.domain.generations import epoch_of, make_generation
from docmill.domain.registry import Attempt, CommitResult, DocumentState, Entry, Garbage, Lane, Suspicion, TaskMessage
from docmill.domain.runs import Run, RunState
from docmill.ports.registry import PRODUCER_ROLE


@dataclass(slots=True)
class LeaseRecord:
    """The lease of a document: which generation holds it, and until when."""

    generation: int
    expires_ms: int


@dataclass(slots=True)
class RoleRecord:
    """The lease of a role."""

    holder: str
    token: int
    expires_ms: int


@dataclass(slots=True)
class GarbageRecord:
    """A generation in garbage, and when it was noted or last deleted."""

    garbage: Garbage
    noted_ms: int


@dataclass(slots=True)
class LedgerEntry:
    """One planned piece of work; it waits until it has begun."""

    ticket: int
    lane: Lane
    run_id: str
    begun: bool = False
    tries: int = 0


@dataclass(slots=True)
class RunRecord:
    """A run, whose ``pending`` is not kept up and that its ``retry_at`` alone shows to back off; and whether one more pass is wanted."""

    run: Run
    wants_another_pass: bool = False


@dataclass(slots=True)
class StateData:
    """The whole state; ``gone_since`` has the moment at which ``(index set, document)`` became GONE."""

    kb: str
    epoch: int = 0
    set_back: bool = False
    attempts: int = 0
    tickets: int = 0
    commits: int = 0
    served: str | None = None
    entries: dict[str, dict[str, Entry]] = field(default_factory=dict)
    gone_since: dict[tuple[str, str], int] = field(default_factory=dict)
    leases: dict[str, LeaseRecord] = field(default_factory=dict)
    claims: dict[str, Attempt] = field(default_factory=dict)
    kept_vectors: dict[str, Vector] = field(default_factory=dict)
    dirty: set[str] = field(default_factory=set)
    garbage: dict[int, GarbageRecord] = field(default_factory=dict)
    ledger: dict[str, LedgerEntry] = field(default_factory=dict)
    suspects: dict[str, Suspicion] = field(default_factory=dict)
    runs: dict[str, RunRecord] = field(default_factory=dict)
    runs_started: int = 0
    last_run: str | None = None
    last_complete_run: str | None = None
    roles: dict[str, RoleRecord] = field(default_factory=dict)
    last_token: int = 0
    notes: dict[str, str] = field(default_factory=dict)

    def require_open(self) -> None:
        """Raises ``StateLost`` when no epoch was ever raised: nothing may be minted then."""
        if self.epoch == 0:
            raise StateLost(f"the registry of {self.kb!r} was never opened or has been emptied; it must be rebuilt first")

    def require_not_set_back(self) -> None:
        """Raises ``StateSetBack`` until an epoch was raised after another server took the state over."""
        if self.set_back:
            raise StateSetBack(f"Redis has another server or was restarted: the registry of {self.kb!r} must be opened again")

    def require_leader(self, token: int, now_ms: int) -> None:
        """Raises ``NotLeader`` when ``token`` does not hold the producer's role."""
        role = self.roles.get(PRODUCER_ROLE)
        if role is None or role.token != token or role.expires_ms <= now_ms:
            raise NotLeader(f"another producer leads {self.kb!r} now")

    def raise_epoch(self, at_least: int) -> int:
        """The new epoch, in which every lease is void."""
        self.epoch = max(self.epoch + 1, at_least)
        self.attempts = self.tickets = 0
        self.set_back = False
        for lease in self.leases.values():
            lease.expires_ms = 0
        self.claims.clear()
        return self.epoch

    def index_sets(self) -> list[str]:
        """The index sets that have entries or are served, sorted."""
        served = {self.served} if self.served is not None else set()
        return sorted(served | {index_set for index_set, entries in self.entries.items() if entries})

    def is_leased(self, document_id: str, now_ms: int) -> bool:
        """Whether somebody holds the document's lease; a lease of an older epoch is void."""
        lease = self.leases.get(document_id)
        return lease is not None and lease.expires_ms > now_ms and epoch_of(lease.generation) == self.epoch

    def holds(self, attempt: Attempt, now_ms: int) -> bool:
        """Whether the attempt still holds its document's lease, in this epoch."""
        return self.is_leased(attempt.document_id, now_ms) and self.leases[attempt.document_id].generation == attempt.generation

    def release(self, document_id: str) -> None:
        """Ends the lease of a document, and with it what its attempts have claimed."""
        del self.leases[document_id]
        self.claims = {text: attempt for text, attempt in self.claims.items() if attempt.document_id != document_id}

    def is_live(self, document_id: str, generation: int) -> bool:
        """Whether the generation is live in any index set."""
        found = (entries.get(document_id) for entries in self.entries.values())
        return any(entry and entry.live and entry.live.generation == generation for entry in found)

    def mint_generation(self) -> int:
        """The next generation."""
        self.attempts += 1
        return make_generation(self.epoch, self.attempts)

    def plan(self, document_id: str, lane: Lane, run_id: str) -> TaskMessage:
        """Makes the document's ledger entry with a ticket that never was."""
        self.tickets += 1
        entry = LedgerEntry(make_generation(self.epoch, self.tickets), lane, run_id)
        self.ledger[document_id] = entry
        return self.message(document_id, entry)

    def message(self, document_id: str, entry: LedgerEntry) -> TaskMessage:
        """The message of a ledger entry."""
        return TaskMessage(self.kb, document_id, entry.ticket)

    def note_garbage(self, document_id: str, generation: int, chunks: Mapping[str, Mapping[str, int]] | None, now_ms: int) -> None:
        """Puts a generation into garbage; counts for further index sets are added to those that are there."""
        record = self.garbage.get(generation)
        if record is not None and record.garbage.chunks is not None:
            chunks = {**record.garbage.chunks, **(chunks or {})}
        self.garbage[generation] = GarbageRecord(Garbage(document_id, generation, chunks), now_ms)

    def end_attempt(self, attempt: Attempt) -> CommitResult:
        """Releases the attempt's lease and ends its ticket; a dirty document gets a new live ticket."""
        document_id = attempt.document_id
        self.release(document_id)
        entry = self.ledger.get(document_id)
        if entry is not None and entry.ticket == attempt.ticket:
            del self.ledger[document_id]
        if document_id not in self.dirty:
            return CommitResult(True)
        self.dirty.discard(document_id)
        return CommitResult(True, self.plan(document_id, Lane.LIVE, ""))

    def wait_again(self, document_id: str) -> TaskMessage:
        """Releases the lease of a document; its ledger entry waits again, under the ticket that it has."""
        self.release(document_id)
        entry = self.ledger[document_id]
        entry.begun = False
        return self.message(document_id, entry)

    def put_failed(self, document_id: str, state: DocumentState, reason: str, stat: str) -> None:
        """Gives the document's entry a state without a new version, in every index set that is served or has entries."""
        for index_set in self.index_sets():
            known = self.entries.setdefault(index_set, {})
            entry = known.get(document_id) or Entry(state, None)
            known[document_id] = replace(entry, state=state, reason=reason, stat=stat)
            self.gone_since.pop((index_set, document_id), None)

    def count(self, run_id: str, counters: Mapping[str, int]) -> None:
        """Adds to a run's counters; a run that is not known is left alone."""
        record = self.runs.get(run_id)
        if record is not None:
            sums = dict(record.run.counters)
            for name, value in counters.items():
                sums[name] = sums.get(name, 0) + value
            record.run = replace(record.run, counters=sums)

    def run(self, run_id: str | None) -> Run | None:
        """A run with its pending tickets counted."""
        record = self.runs.get(run_id) if run_id is not None else None
        if record is None:
            return None
        state = record.run.state if record.run.retry_at is None else RunState.BACKING_OFF
        return replace(record.run, state=state, pending=sum(entry.run_id == run_id for entry in self.ledger.values()))

    def has_ended(self, run_id: str) -> bool:
        """Whether this is a run that has ended."""
        return run_id in self.runs and self.runs[run_id].run.state.final

    def end_run(self, run_id: str, state: RunState, now_ms: int, error: str = "") -> None:
        """Gives a run its final state."""
        record = self.runs[run_id]
        record.run = replace(record.run, state=state, error=error, finished_at=now_ms / 1000, retry_at=None)

    def leave_run(self, document_id: str) -> bool:
        """Ends what a run had planned of a document that waits; True when it waits still, of no run: it was changed while in work."""
        if document_id in self.dirty:
            self.ledger[document_id].run_id = ""
            return True
        del self.ledger[document_id]
        return False

    def forget_runs(self, keep: int) -> None:
        """Forgets all but the last ``keep`` runs and the last complete one."""
        for run_id in list(self.runs)[: -keep or None]:
            if run_id != self.last_complete_run:
                del self.runs[run_id]

    def waiting(self) -> list[tuple[str, LedgerEntry]]:
        """The ledger entries that have not begun, oldest ticket first."""
        return sorted(((d, e) for d, e in self.ledger.items() if not e.begun), key=lambda item: item[1].ticket)


def require_one_line(document_ids: Iterable[str]) -> None:
    """Raises ``ValueError`` for a document id with a line break: ids carry control characters as ``%XX``."""
    for document_id in document_ids:
        if "\n" in document_id or not document_id:
            raise ValueError(f"not a document id: {document_id!r}")
