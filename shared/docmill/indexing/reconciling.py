"""Reconciling: makes one document's index state equal to its source. The one task of docmill."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import structlog

from docmill.domain.documents import fingerprint_of
from docmill.domain.errors import (
    CallCancelled,
    DocmillError,
    DocumentSkipped,
    ProviderError,
    ProviderRateLimited,
    SkipReason,
    StateSetBack,
    StoreDown,
    Superseded,
    TextRefused,
)
from docmill.domain.registry import CRASHES_TO_QUARANTINE, Attempt, Commit, CommitResult, DocumentState, Lane, Suspicion, TaskMessage
from docmill.indexing.attempt_time import AttemptTime
from docmill.indexing.batchers import Batchers
from docmill.indexing.committing import OUTAGE_PAUSE_SECONDS, Prepared
from docmill.indexing.containers import ContainerLoading
from docmill.indexing.cutting import Cut, Cutter
from docmill.indexing.finishing import Finishing
from docmill.indexing.giving_back import give_back
from docmill.indexing.handling import Handling, handling_alone, handling_here
from docmill.indexing.leasekeeping import LeaseKeeper
from docmill.indexing.preparing import Chunker
from docmill.indexing.sources import Content, Source
from docmill.indexing.targets import Target
from docmill.indexing.turns import Turns
from docmill.indexing.unpaid import Unpaid
from docmill.ports.clock import Clock
from docmill.ports.isolation import Crashed, Isolation
from docmill.ports.queue import TaskQueue
from docmill.ports.state import KnowledgeBaseState

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Reconciler:
    """Carries out tasks for one knowledge base.

    Attributes:
        targets: the index sets that a change goes to: the served one, and the one being built.
        submit: hands a prepared document to the committer.
        isolation: where a suspect is worked on, and where files are taken apart.
        deadline_seconds: for one document, checked between its steps; while it waits for a provider its time stands still.
        batchers: fill the requests to models that other machines run; None asks every model document by document.
    """

    state: KnowledgeBaseState
    source: Source
    targets: Callable[[], Sequence[Target]]
    chunker: Chunker
    isolation: Isolation
    submit: Callable[[Prepared], None]
    keeper: LeaseKeeper
    tasks: TaskQueue
    clock: Clock
    lease_seconds: float
    deadline_seconds: float
    batchers: Batchers | None = None

    def reconcile(self, message: TaskMessage, turns: Turns | None = None, finishing: Finishing | None = None) -> None:
        """Begins an attempt and ends it, or hands it to the committer; does nothing for a message that the ledger does not know.

        While a store is out a document has not failed: it is given back after a pause. Nor has it while a provider is to be left alone, or
        when its call was cancelled: it waits in the ledger then, without a message, until whoever plans the work sends one.

        Args:
            message: what to work on.
            turns: one of which the caller has taken; it is left while this document waits for others.
            finishing: where a document may wait for a provider when this method has returned; None waits here.

        Raises:
            StoreDown: the registry does not answer; the ledger sends the document again.
        """
        attempt = self.state.ledger.begin(message, self.lease_seconds)
        if attempt is None:
            return
        self.keeper.hold(attempt)
        self._carry_on(attempt, lambda: _Preparation(self, attempt, turns or Turns(1)).run(), finishing)

    def _carry_on(
        self,
        attempt: Attempt,
        step: Callable[[], Prepared | Unpaid | None],
        finishing: Finishing | None = None,
        *,
        pauses: bool = True,
    ) -> None:
        """Does the next step of ``attempt``, and ends it where that is the last one.

        Args:
            attempt: of a document.
            step: brings what is to commit, or what is to be paid first, or ends the attempt.
            finishing: as for ``reconcile``.
            pauses: whether this thread rests while a store is out; one that serves all documents must not.
        """
        handed_over = False
        try:
            outcome = step()
            if isinstance(outcome, Unpaid):
                unpaid = outcome
                is_lost = partial(self.keeper.is_lost, attempt)
                handed_over = finishing is not None and finishing.defer(unpaid.characters, partial(self._asked, unpaid), is_lost)
                outcome = None if handed_over else unpaid.paid()
            if outcome is not None:
                self.submit(outcome)
                handed_over = True
        except Superseded:
            _log.debug("attempt_superseded", document_id=attempt.document_id, generation=attempt.generation)
        except StoreDown as error:
            _log.warning("document_postponed", document_id=attempt.document_id, error=str(error))
            if isinstance(error, StateSetBack):
                self.keeper.lose(attempt.knowledge_base)
            if pauses:
                self.keeper.pause(OUTAGE_PAUSE_SECONDS)
            if not self.keeper.stopped:
                give_back([attempt], lambda _: self.state.ledger, self.tasks)
        except (ProviderRateLimited, CallCancelled) as error:
            _log.debug("document_waits", document_id=attempt.document_id, code=error.code, error=str(error))
            if not self.keeper.stopped:
                give_back([attempt], lambda _: self.state.ledger, None)
        except DocmillError as error:
            if self.keeper.stopped:
                return  # what fails while the process closes its stores says nothing of the document
            # A provider that is out fails many documents: whoever closes its gate or ends its run says so, once.
            say = _log.info if isinstance(error, ProviderError) and not isinstance(error, TextRefused) else _log.warning
            say("document_failed", document_id=attempt.document_id, code=error.code, error=str(error))
            self.end(self.state.ledger.finish(attempt, failed=f"{error.code}: {error}"))
        except Exception as error:  # noqa: BLE001
            if self.keeper.stopped:
                return
            # A defect costs this document, not the worker: it is named as the reason, and tried again by the next run.
            _log.exception("document_failed", document_id=attempt.document_id)
            self.end(self.state.ledger.finish(attempt, failed=f"internal: {type(error).__name__}: {error}"))
        finally:
            if not handed_over:
                self.keeper.let_go(attempt)

    def _asked(self, unpaid: Unpaid, tell: Callable[[], None]) -> Callable[[], None] | None:
        """Asks for what is to be paid; what is left to do then, or None where it cannot be asked for all at once."""
        pay = unpaid.ask(tell)
        return None if pay is None else lambda: self._carry_on(unpaid.attempt, pay, pauses=False)

    def end(self, result: CommitResult, lane: Lane = Lane.LIVE) -> None:
        """Sends the message of a document that was changed while it was in work, or that is to be tried again."""
        if result.next_message is not None:
            self.tasks.send([result.next_message], lane)


class _Preparation:
    """One attempt, from the source to what the committer takes."""

    def __init__(self, reconciler: Reconciler, attempt: Attempt, turns: Turns) -> None:
        self._reconciler = reconciler
        self._attempt = attempt
        self._targets = reconciler.targets()
        self._time = AttemptTime(attempt, reconciler.keeper, turns, reconciler.clock, reconciler.deadline_seconds)
        self._cutter = Cutter(attempt, self._targets, self._time, reconciler.batchers, reconciler.state.ledger)

    def run(self) -> Prepared | Unpaid | None:
        """What to commit, or what is to be paid first; None when the attempt has ended here."""
        document_id = self._attempt.document_id
        strategies = self._reconciler.source.strategies_for(document_id)
        if not strategies:
            return self._without_chunks(DocumentState.GONE)
        content: Content | None = None
        fingerprint = ""
        try:
            content = self._reconciler.source.read(document_id)
            if content is None:
                return self._without_chunks(DocumentState.GONE)
            fingerprint = fingerprint_of(content.content)
            if self._is_unchanged(fingerprint, strategies):
                ledger = self._reconciler.state.ledger
                unchanged = {target.index_set: fingerprint for target in self._targets}
                self._reconciler.end(ledger.finish(self._attempt, unchanged=unchanged, stat=content.stat, counters={"unchanged": 1}))
                return None
            if self._attempt.suspicion is not None:
                return self._suspect(self._attempt.suspicion, content, fingerprint, strategies)
            containers = ContainerLoading(self._reconciler.isolation, self._reconciler.clock)
            handling = handling_here(self._reconciler.source, self._reconciler.chunker, containers, self._time.require_lease)
            return self._with_chunks(self._cut(content, fingerprint, strategies, handling), content, fingerprint)
        except DocumentSkipped as skipped:
            reason = f"{skipped.reason}: {skipped.detail}"
            stat = content.stat if content is not None else self._reconciler.source.stat_of(document_id)
            if skipped.reason is SkipReason.NOT_INSTALLED:
                stat = ""  # every run looks whether it is installed now
            size_bytes = content.size_bytes if content is not None else 0
            return self._without_chunks(DocumentState.SKIPPED, fingerprint, stat=stat, size_bytes=size_bytes, reason=reason)

    def _is_unchanged(self, fingerprint: str, strategies: Sequence[str]) -> bool:
        if not self._attempt.known:
            return False
        for target in self._targets:
            _, entries = self._reconciler.state.registry.entries(target.index_set, [self._attempt.document_id])
            entry = entries.get(self._attempt.document_id)
            if entry is None or entry.live is None or entry.marked or entry.live.fingerprint != fingerprint:
                return False
            failed = entry.state in (DocumentState.FAILED, DocumentState.QUARANTINED)
            if not failed and entry.state not in (DocumentState.LIVE, DocumentState.EMPTY):
                return False
            if failed and not entry.live.chunks:
                return False  # before it failed it may have been skipped, for a reason that is no longer known
            if entry.live.chunks and set(entry.live.chunks) != set(strategies):
                return False
        return True

    def _suspect(self, suspicion: Suspicion, content: Content, fingerprint: str, strategies: Sequence[str]) -> Prepared | Unpaid | None:
        """A worker died over this document: it is worked on alone, where it can harm nobody, unless its content is quarantined."""
        ledger = self._reconciler.state.ledger
        if suspicion.quarantines(fingerprint):
            self._reconciler.end(ledger.finish(self._attempt, failed=suspicion.reason, stat=content.stat))
            return None
        try:
            with self._reconciler.isolation.alone(self._time.require_lease, self._time.seconds_left, fresh=suspicion.crashes > 0) as alone:
                self._time.begin_again()  # others may have been alone before
                cut = self._cut(content, fingerprint, strategies, handling_alone(alone))
        except Crashed as crash:
            _log.warning("document_crashed", document_id=self._attempt.document_id, crashes_before=suspicion.crashes, how=str(crash))
            reason = (
                f"{DocumentState.QUARANTINED}: {CRASHES_TO_QUARANTINE} times in a row the process in which it was worked on alone has "
                f"ended; the last time {crash}. It is left alone until the file changes, or until: docmill retry"
            )
            self._reconciler.end(ledger.crashed(self._attempt, fingerprint, stat=content.stat, reason=reason), self._attempt.lane)
            return None
        return self._with_chunks(cut, content, fingerprint)

    def _cut(self, content: Content, fingerprint: str, strategies: Sequence[str], handling: Handling) -> Cut:
        document = handling.load(self._attempt.document_id, content.content)
        self._reconciler.source.require_allowed(self._attempt.document_id, document)
        return self._cutter.cut(document, fingerprint, strategies, handling)

    def _with_chunks(self, cut: Cut, content: Content, fingerprint: str) -> Prepared | Unpaid:
        payment = self._cutter.claim(cut)
        prepared = partial(self._prepared, cut, replace(content, content=b""), fingerprint)
        return prepared() if payment is None else Unpaid(self._attempt, self._cutter, cut, payment, prepared)

    def _prepared(self, cut: Cut, content: Content, fingerprint: str) -> Prepared:
        commit = Commit(
            attempt=self._attempt,
            state=DocumentState.LIVE if cut.writes else DocumentState.EMPTY,
            fingerprint=fingerprint,
            chunks=cut.counts,
            stat=content.stat,
            size_bytes=content.size_bytes,
            counters={name: value for name, value in cut.counters.items() if value},
        )
        return Prepared(commit, tuple(cut.writes), tuple(cut.paid))

    def _without_chunks(
        self, state: DocumentState, fingerprint: str = "", *, stat: str = "", size_bytes: int = 0, reason: str = ""
    ) -> Prepared:
        counts: Mapping[str, Mapping[str, int]] = {target.index_set: {} for target in self._targets}
        return Prepared(Commit(self._attempt, state, fingerprint, counts, stat=stat, size_bytes=size_bytes, reason=reason))
