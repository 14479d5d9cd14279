"""What the registry and the ledger say of documents: versions, entries, attempts, commits, garbage."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

#: How often in a row one content must end the process in which it runs alone before it is quarantined.
CRASHES_TO_QUARANTINE: Final = 3


class DocumentState(StrEnum):
    """The state of a document in an index set.

    ``pending`` is never stored: it is a document with a ledger entry. ``gone`` entries are forgotten after the grace.
    """

    LIVE = "live"
    PENDING = "pending"
    EMPTY = "empty"
    SKIPPED = "skipped"
    FAILED = "failed"
    QUARANTINED = "quarantined"
    GONE = "gone"


class Lane(StrEnum):
    """The queue in which a document waits."""

    LIVE = "live"
    BULK = "bulk"


@dataclass(frozen=True, slots=True)
class Version:
    """One committed generation.

    Attributes:
        generation: its number.
        commit: the knowledge base's commit number at which it became live.
        chunks: how many chunks it has, by strategy name; empty for an empty, skipped or gone document.
        committed_at: when it became live, in seconds since 1970; None where the registry was rebuilt since. For people alone.
    """

    generation: int
    commit: int
    fingerprint: str
    chunks: Mapping[str, int] = field(default_factory=dict)
    committed_at: int | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Entry:
    """A document in the registry of one index set.

    Attributes:
        state: LIVE, EMPTY, SKIPPED, FAILED, QUARANTINED or GONE. A FAILED or QUARANTINED document may still have a live version.
        live: what queries are answered with; None when nothing was ever committed.
        previous: what queries were answered with before.
        stat: the packed ``StatSignature`` of the file as it was read, or "" when the file must be read again.
        reason: why it is skipped, failed or quarantined: ``<kind>: <sentence>``; "" otherwise.
        size_bytes: of the file as it was read.
        marked: its live version was found not to be whole; the next attempt must write.
    """

    state: DocumentState
    live: Version | None
    previous: Version | None = None
    stat: str = ""
    reason: str = ""
    size_bytes: int = 0
    marked: bool = False

    def version_at(self, commit: int) -> "Version | None":
        """The version that was live at commit number ``commit``.

        Returns None when the document did not exist then.

        Raises:
            LookupError: that version is older than ``previous``: the query must search again.
        """
        if self.live is None or self.live.commit <= commit:
            return self.live
        if self.previous is None or self.previous.commit <= commit:
            return self.previous
        raise LookupError("the version is older than the previous one")


@dataclass(frozen=True, slots=True)
class Position:
    """Where a knowledge base stands: what a query reads first.

    Attributes:
        index_set: the set that is served; None while none was ever.
        pending: how many documents wait or are in work at that moment; two positions may be equal and differ in it.
        last_complete_run: when the last complete run ended, in seconds since 1970, or None.
        set_back: the state may have lost what was done last, and must be opened again (``Registry.reopen``).
    """

    epoch: int
    commit: int
    index_set: str | None
    pending: int = field(default=0, compare=False)
    last_complete_run: float | None = field(default=None, compare=False)
    set_back: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class TaskMessage:
    """What travels through the queue: ids, never text."""

    knowledge_base: str
    document_id: str
    ticket: int


@dataclass(frozen=True, slots=True)
class Suspicion:
    """Why a document runs alone, in a process that nothing else depends on: a worker died while it was in work.

    Attributes:
        crashes: how often in a row one content has ended the process in which it ran alone.
        fingerprint: of that content; "" before the first time.
        reason: why it is quarantined; "" while it is not.
    """

    crashes: int = 0
    fingerprint: str = ""
    reason: str = ""

    def quarantines(self, fingerprint: str) -> bool:
        """Whether this content must not be tried again."""
        return self.reason != "" and fingerprint == self.fingerprint


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try to make a document's index state equal to its source; it holds the document's lease.

    Attributes:
        generation: minted for it; its fencing token.
        tries: how often this ticket has begun, this time included.
        run_id: the run that planned it, or "".
        known: whether any index set had an entry for the document when it began; without one there is nothing to compare with.
        suspicion: why it must run alone; None for a document that no worker died over.
    """

    knowledge_base: str
    document_id: str
    ticket: int
    generation: int
    lane: Lane
    run_id: str = ""
    tries: int = 1
    known: bool = True
    suspicion: Suspicion | None = None


@dataclass(frozen=True, slots=True)
class Intent:
    """Chunk counts of an attempt, recorded before its first write: ``{index set: {strategy: count}}``."""

    attempt: Attempt
    fingerprint: str
    chunks: Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class Commit:
    """What becomes live, in every index set at once.

    Attributes:
        state: LIVE, EMPTY, SKIPPED or GONE.
        chunks: ``{index set: {strategy: count}}``; GONE applies to every index set that knows the document and needs none.
        counters: added to the run's counters by the same script (``chunks``, ``embedded``, ``reused``, ``tokens``).

    Raises:
        ValueError: another state, or no index set in which something becomes live.
    """

    attempt: Attempt
    state: DocumentState
    fingerprint: str
    chunks: Mapping[str, Mapping[str, int]]
    stat: str = ""
    size_bytes: int = 0
    reason: str = ""
    counters: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.state not in (DocumentState.LIVE, DocumentState.EMPTY, DocumentState.SKIPPED, DocumentState.GONE):
            raise ValueError(f"{self.state} cannot be committed")
        if not self.chunks and self.state is not DocumentState.GONE:
            raise ValueError(f"the commit of {self.attempt.document_id!r} names no index set")


@dataclass(frozen=True, slots=True)
class CommitResult:
    """What came of a commit.

    Attributes:
        committed: False means superseded: nothing was changed.
        next_message: a new live ticket, when the document was changed meanwhile; the caller sends it.
    """

    committed: bool
    next_message: TaskMessage | None = None


@dataclass(frozen=True, slots=True)
class Garbage:
    """A generation that is not live, on its way out of the stores.

    Attributes:
        chunks: ``{index set: {strategy: count}}``, or None when no intent was recorded: it wrote nothing.
        deleted_once: it was deleted, and is deleted again after the grace.
    """

    document_id: str
    generation: int
    chunks: Mapping[str, Mapping[str, int]] | None
    deleted_once: bool = False


@dataclass(frozen=True, slots=True)
class QueueDepth:
    """What the broker holds: messages in both lanes, and messages that a worker took a short while ago and has not acknowledged."""

    live: int
    bulk: int
    unacknowledged: int

    @property
    def total(self) -> int:
        """All messages that may still be worked on."""
        return self.live + self.bulk + self.unacknowledged
