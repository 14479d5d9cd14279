"""The run ledger of one knowledge base; ``registry`` has the other two faces of the same state, and says what holds for all three."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from docmill.domain.chunks import Vector
from docmill.domain.registry import Attempt, CommitResult, Lane, Suspicion, TaskMessage
from docmill.domain.runs import Run, RunState


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

    def keep_vectors(self, vectors: Mapping[str, Vector]) -> None:
        """Keeps what an attempt has paid for and could not use, until an attempt in whichever process takes it.

        A state that was set back takes them too: a vector is right in every epoch. Numbers are kept as 32-bit floats. What nobody takes
        is forgotten after a day.

        Args:
            vectors: by the key of their text, which is made of everything that decides which vector it gets.
        """
        ...

    def take_vectors(self, texts: Sequence[str]) -> dict[str, Vector]:
        """What is kept by these keys; from now on it is not."""
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
