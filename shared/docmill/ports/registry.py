"""Registry, leases and run ledger of one knowledge base: three faces of one atomic state.

All three of a knowledge base share one state: every method is one atomic step (one script on Redis), except that ``scan`` and ``page`` may
take several and that ``intents``, ``commit``, ``settle_garbage`` and ``adopt`` take one per item. Times are the state's own clock. Any
method raises ``StoreDown`` when the state cannot be reached. While the epoch is 0 (never opened, or emptied) ``enqueue``, ``begin`` and
``start_run`` raise ``StateLost``: nothing may be minted before ``raise_epoch``.

The state remembers which server its epoch was opened on. When another one has it (a fail-over), or that one was restarted, the last
changes may be gone: every method but ``position``, ``raise_epoch`` and ``reopen`` raises ``StateSetBack`` then and changes nothing, until
the epoch is raised by a process that has the stores and has raised it there first.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Protocol

from docmill.domain.registry import (
    Attempt,
    Commit,
    CommitResult,
    DocumentState,
    Entry,
    Garbage,
    Intent,
    Lane,
    Position,
    Suspicion,
    TaskMessage,
)
from docmill.domain.runs import Run, RunState

#: The role of the one process that plans the work of a knowledge base.
PRODUCER_ROLE: Final = "producer"
#: The role of the one process that rebuilds a lost registry.
REBUILD_ROLE: Final = "rebuild"


class Registry(Protocol):
    """Which generation of each document is live."""

    def position(self) -> Position:
        """Where the knowledge base stands, all of it read together. A state that was never opened has epoch 0."""
        ...

    def raise_epoch(self, at_least: int) -> int:
        """Makes the epoch one more than it was, and no less than ``at_least``; returns it.

        Attempts of older epochs can change nothing any more: their leases are void and their ledger entries count as expired.
        """
        ...

    def reopen(self, at_least: int) -> int | None:
        """``raise_epoch``, but only where the state was set back; None where it was not, or another process has opened it again."""
        ...

    def serve(self, index_set: str) -> None:
        """Makes ``index_set`` the one that queries read."""
        ...

    def flip(self, index_set: str, note: str) -> bool:
        """``serve``, but only if ``index_set`` is the text that is kept under ``note``, which is forgotten then; False where it is not."""
        ...

    def note(self, key: str, text: str | None) -> None:
        """Keeps a short text of the knowledge base under ``key``; None forgets it."""
        ...

    def noted(self, key: str) -> str | None:
        """The text that is kept under ``key``, or None."""
        ...

    def forget_index_set(self, index_set: str) -> None:
        """Removes all entries of an index set; ``ValueError`` for the one that is served. Its generations do not enter garbage."""
        ...

    def index_sets(self) -> list[str]:
        """The index sets that have entries or are served, sorted."""
        ...

    def entries(self, index_set: str, document_ids: Sequence[str]) -> tuple[int, dict[str, Entry]]:
        """The epoch and the entries of these documents, read together; unknown documents are left out."""
        ...

    def entries_now(self, index_set: str, document_ids: Sequence[str]) -> tuple[Position, dict[str, Entry]]:
        """The position and the entries of these documents, read together; unknown documents are left out."""
        ...

    def stats(self, index_set: str, document_ids: Sequence[str]) -> list[str | None]:
        """For each document the packed stat signature that a scan compares with; None when it is unknown, gone or failed.

        "" means known, but to be read again (racy or marked).
        """
        ...

    def scan(self, index_set: str) -> Iterator[tuple[str, Entry]]:
        """Every entry, in no order; what changes meanwhile may be seen before or after. GONE entries are among them."""
        ...

    def page(self, index_set: str, *, after: str, limit: int, state: DocumentState | None) -> list[tuple[str, Entry]]:
        """At most ``limit`` entries with an id above ``after`` in code-point order of the id, without GONE ones."""
        ...

    def counts(self, index_set: str) -> tuple[dict[DocumentState, int], dict[str, int]]:
        """How many documents are in each stored state, and how many live chunks each strategy has."""
        ...

    def intents(self, intents: Sequence[Intent]) -> list[bool]:
        """Records chunk counts before the first write; False for an attempt that has lost its lease or its epoch."""
        ...

    def commit(self, commits: Sequence[Commit]) -> list[CommitResult]:
        """Makes generations live, each on its own.

        A commit is carried out only if its epoch holds, the lease is still the attempt's, and the generation is above the live one.
        Then, atomically: the commit number rises; in each index set live moves to previous and the new version becomes live; the new
        generation leaves garbage and the old one enters it; the lease is released; the ticket ends; the counters rise, and with them in the
        attempt's run ``indexed``, ``empty``, ``removed`` or ``skipped.<reason>`` by the state; a document that was changed meanwhile gets a
        new live ticket; it is no suspect any more. Otherwise nothing changes.

        GONE applies to every index set that has an entry of the document, whatever ``chunks`` names; where none has, nothing becomes live
        (the generation stays in garbage, ``removed`` does not rise), but the attempt ends.
        """
        ...

    def mark(self, index_set: str, document_id: str, generation: int) -> None:
        """Notes that the live version is not whole, if ``generation`` is still the live one."""
        ...

    def due_garbage(self, grace_seconds: float, limit: int) -> list[Garbage]:
        """Generations that may be deleted now: noted at least the grace ago, not live in any index set, not leased, oldest first.

        ``chunks`` may name an index set that was forgotten since.
        """
        ...

    def settle_garbage(self, garbage: Sequence[Garbage]) -> None:
        """Notes that these were deleted: after the first time they wait the grace again, after the second they are forgotten.

        Those without chunk counts are forgotten at once. One that is not as it was when ``due_garbage`` returned it is left alone.
        """
        ...

    def forget_gone(self, grace_seconds: float, limit: int) -> int:
        """Forgets entries that have been GONE for the grace; returns how many, at most ``limit``, over all index sets."""
        ...

    def unknown_generations(self, index_set: str, generations: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
        """Those of ``(document, generation)`` that are neither live in this index set, nor leased, nor in garbage.

        Raises ``StateLost`` while the epoch is 0: a registry that was emptied knows none, and what nobody knows is removed.
        """
        ...

    def adopt(self, index_set: str, entries: Sequence[tuple[str, Entry]], token: int) -> bool:
        """Puts entries that were found in the stores in the place of those that are there: how a lost registry is rebuilt.

        Returns False, and changes nothing, when the epoch is above 0 or ``token`` does not hold the role ``REBUILD_ROLE`` any more:
        only one process may rebuild, and only before anything is minted.
        """
        ...


class Leases(Protocol):
    """Locks with a short time to live. A lease of a document is taken by ``RunLedger.begin`` and belongs to a generation."""

    def renew(self, attempts: Sequence[Attempt], ttl_seconds: float) -> list[bool]:
        """Prolongs leases; False for one that has run out or is another's: an expired lease is never revived."""
        ...

    def expire_all(self) -> None:
        """Lets every lease of a document or a role run out now; only for a caller that knows that no holder is alive."""
        ...

    def acquire_role(self, role: str, holder: str, ttl_seconds: float) -> int | None:
        """Takes or prolongs the lease of a role (``producer``, ``sweeper``) and returns its token; None while another holds it.

        The token is the same while one holder prolongs it, and higher for every new holder, also after the state was lost.
        """
        ...

    def release_role(self, role: str, token: int) -> None:
        """Gives the role up, if ``token`` still holds it."""
        ...

    def is_role_held(self, role: str) -> bool:
        """Whether somebody holds the role now."""
        ...


class RunLedger(Protocol):
    """One entry per document that is queued or in work, and the runs that planned them."""

    def led_by(self, token: int) -> "RunLedger":
        """The same ledger for the producer that holds ``PRODUCER_ROLE`` under ``token``.

        Every method of it raises ``NotLeader`` and changes nothing once the role ran out, was given up, or is held under another token.
        """
        ...

    def enqueue(self, document_ids: Sequence[str], lane: Lane, *, run_id: str = "") -> list[TaskMessage]:
        """Plans work on documents; the caller sends the messages that are returned.

        Leased, or begun and not sent again yet: the document is noted as dirty and no message is returned. An entry that is there stays,
        without a message, except that a live change of a document that waits in bulk gets a new ticket and a live message. Otherwise there
        is a new entry with a new ticket. For a run that has ended nothing is planned. ``ValueError`` for an empty id or one with a line
        break.
        """
        ...

    def begin(self, message: TaskMessage, lease_seconds: float) -> Attempt | None:
        """Takes the document's lease and mints a generation, noting it in garbage; clears dirty.

        A document that had begun and whose lease ran out is a suspect from now on: its attempts say so until one of them ends well.

        Returns None when the ticket is not the ledger's, or the lease is busy (then the document is noted as dirty).
        """
        ...

    def finish(
        self,
        attempt: Attempt,
        *,
        unchanged: Mapping[str, str] | None = None,
        failed: str = "",
        stat: str = "",
        counters: Mapping[str, int] | None = None,
    ) -> CommitResult:
        """Ends an attempt that commits nothing, only while its lease is its own.

        Removes its ticket, releases the lease, and makes a new live ticket if the document is dirty. Unless it ``failed``, the document is
        no suspect any more.

        Args:
            attempt: what ends.
            unchanged: ``{index set: fingerprint}``: the source equals the live version: its stat signature becomes ``stat``, where the
                live fingerprint still is that one. A FAILED or QUARANTINED entry becomes LIVE again, or EMPTY when its live version has no
                chunks.
            failed: the reason (``<kind>: <sentence>``) with which the document's entry becomes FAILED (QUARANTINED, when the kind is that
                word) in every index set that is served or has entries; its live version stays. The run's ``failed.<kind>`` rises.
            stat: the packed stat signature that was read.
            counters: added to the run's counters.
        """
        ...

    def crashed(self, attempt: Attempt, fingerprint: str, *, stat: str, reason: str) -> CommitResult:
        """Notes that a document ended the process in which it ran alone, only while the lease is the attempt's own.

        The first times its lease is released and it waits again, with the same ticket, whose message is returned. The
        ``CRASHES_TO_QUARANTINE``-th time in a row that this content did so ends the attempt as ``finish`` does: its entry becomes
        QUARANTINED in every index set that is served or has entries, and its live version stays.

        Args:
            attempt: what crashed.
            fingerprint: of the content; another one than the last time is counted from 1.
            stat: the packed stat signature that was read: while the file keeps it, no scan plans the document.
            reason: for the entry, ``quarantined: <sentence>``.
        """
        ...

    def give_back(self, attempts: Sequence[Attempt]) -> list[TaskMessage]:
        """Releases the leases of attempts that their worker does not finish since it stops; their documents are no suspects for that.

        Each waits again, with the same ticket; the messages are returned, in order. What has ended or lost its lease is left out, and so
        is a document of a run that has ended: its ticket ends with the run's, as in ``end_run``.
        """
        ...

    def claim(self, attempt: Attempt, texts: Sequence[str]) -> bool:
        """Claims texts, by their keys, for an attempt that is about to pay for their vectors; all of them or none.

        A key is made of everything that decides which vector the text gets, and has no comma. False while another attempt that still
        holds its lease has claimed one of them: once that has ended, the vector may be stored. A claim ends with its attempt or its
        lease. Raises ``Superseded`` when the attempt does not hold its lease itself.
        """
        ...

    def back_off(self, run_id: str, retry_at: float | None) -> None:
        """Notes that a run leaves a provider alone until ``retry_at``, in seconds since 1970: so long it is BACKING_OFF; None ends that.

        What the run was before, scanning or indexing, goes on below: it may end its scan, and its documents may end. A run that is not
        known or has ended stays as it is.
        """
        ...

    def retry(self, document_ids: Sequence[str]) -> list[str]:
        """Forgets how often documents have crashed, so that they are tried again, and returns those that are FAILED or QUARANTINED.

        A QUARANTINED entry becomes FAILED and keeps its reason, so that the next scan plans the document; it stays a suspect. Nothing is
        planned here.
        """
        ...

    def suspicions(self, document_ids: Sequence[str]) -> dict[str, Suspicion]:
        """Those of the documents that are suspects, with what is known against them."""
        ...

    def resend_expired(self, limit: int, *, suspects: bool = True) -> list[TaskMessage]:
        """Messages, with the same tickets, for entries that had begun and whose lease ran out; each is returned once per expiry.

        With ``suspects`` their documents are suspects from now on; without, nobody died: the caller knows why the leases are void.
        """
        ...

    def oldest_waiting(self, limit: int) -> list[TaskMessage]:
        """Messages, with the same tickets, for the entries that have not begun, oldest first."""
        ...

    def pending(self, document_ids: Sequence[str]) -> list[bool]:
        """For each document whether it has an entry here: it waits, is in work, or is to be sent again."""
        ...

    def outstanding(self) -> tuple[int, int]:
        """How many entries wait, and how many are in work."""
        ...

    def start_run(self) -> tuple[Run, bool]:
        """Starts a run, or marks the one that is going on for one more pass; True when it is new.

        No run of another knowledge base has its id.
        """
        ...

    def wants_another_pass(self, run_id: str) -> bool:
        """Whether a pass was asked for during this run; asking clears it."""
        ...

    def count(self, run_id: str, counters: Mapping[str, int]) -> None:
        """Adds to a run's counters; a run that is not known is left alone."""
        ...

    def scan_ended(self, run_id: str) -> None:
        """The run plans nothing more: ``scanning`` becomes ``indexing``."""
        ...

    def complete(self, run_id: str) -> bool:
        """Ends the run if its scan has ended and none of its tickets is left; True when it has ended, now or before.

        A run that is not known any more has ended. ``complete`` becomes ``complete_with_errors`` when a ``failed.*`` counter is above 0.
        """
        ...

    def end_run(self, run_id: str, state: RunState, error: str = "") -> list[str]:
        """Ends the run with FAILED, TIMED_OUT or CANCELLED; its waiting tickets are removed, and their documents returned.

        A document that was changed since it was last begun keeps its ticket, which then belongs to no run: no change is lost with a run.
        A run that is not known or has ended stays as it is. ``ValueError`` for another state.
        """
        ...

    def run(self, run_id: str) -> Run | None:
        """A run, or None; the last 100 and the last complete one are kept."""
        ...

    def current_run(self) -> Run | None:
        """The run that is going on, else the last one, else None."""
        ...

    def last_complete_run(self) -> Run | None:
        """The last run that is complete or complete_with_errors."""
        ...
