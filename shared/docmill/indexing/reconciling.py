"""Reconciling: makes one document's index state equal to its source. The one task of docmill."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import structlog

from docmill.domain.chunks import ChunkRecord
from docmill.domain.documents import fingerprint_of
from docmill.domain.errors import DocmillError, DocumentDeadlineExceeded, DocumentSkipped, StoreDown, Superseded
from docmill.domain.knowledge_bases import StrategyKind, StrategySpec
from docmill.domain.registry import CRASHES_TO_QUARANTINE, Attempt, Commit, CommitResult, DocumentState, Lane, Suspicion, TaskMessage
from docmill.indexing.committing import OUTAGE_PAUSE_SECONDS, Prepared, Write
from docmill.indexing.embedding import TEXTS_A_CALL, embed_records
from docmill.indexing.giving_back import give_back
from docmill.indexing.handling import Handling, handling_alone, handling_here
from docmill.indexing.leasekeeping import LeaseKeeper
from docmill.indexing.preparing import Chunker, records_by_strategy
from docmill.indexing.sources import Content, Source
from docmill.indexing.targets import Target
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
        isolation: where a suspect is worked on.
        deadline_seconds: for one document, checked between its steps.
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

    def reconcile(self, message: TaskMessage) -> None:
        """Begins an attempt and ends it, or hands it to the committer; does nothing for a message that the ledger does not know.

        While a store is out a document has not failed: it is given back after a pause.

        Raises:
            StoreDown: the registry does not answer; the ledger sends the document again.
        """
        attempt = self.state.ledger.begin(message, self.lease_seconds)
        if attempt is None:
            return
        self.keeper.hold(attempt)
        handed_over = False
        try:
            prepared = _Preparation(self, attempt).run()
            if prepared is not None:
                self.submit(prepared)
                handed_over = True
        except Superseded:
            _log.debug("attempt_superseded", document_id=attempt.document_id, generation=attempt.generation)
        except StoreDown as error:
            _log.warning("document_postponed", document_id=attempt.document_id, error=str(error))
            self.keeper.pause(OUTAGE_PAUSE_SECONDS)
            if not self.keeper.stopped:
                give_back([attempt], lambda _: self.state.ledger, self.tasks)
        except DocmillError as error:
            if self.keeper.stopped:
                return  # what fails while the process closes its stores says nothing of the document
            _log.warning("document_failed", document_id=attempt.document_id, code=error.code, error=str(error))
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

    def end(self, result: CommitResult, lane: Lane = Lane.LIVE) -> None:
        """Sends the message of a document that was changed while it was in work, or that is to be tried again."""
        if result.next_message is not None:
            self.tasks.send([result.next_message], lane)


class _Preparation:
    """One attempt, from the source to what the committer takes."""

    def __init__(self, reconciler: Reconciler, attempt: Attempt) -> None:
        self._reconciler = reconciler
        self._attempt = attempt
        self._targets = reconciler.targets()
        self._start_deadline()

    def run(self) -> Prepared | None:
        """What to commit; None when the attempt has ended here."""
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
            return self._with_chunks(content, fingerprint, strategies, handling_here(self._reconciler.source, self._reconciler.chunker))
        except DocumentSkipped as skipped:
            reason = f"{skipped.reason}: {skipped.detail}"
            stat = content.stat if content is not None else self._reconciler.source.stat_of(document_id)
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

    def _suspect(self, suspicion: Suspicion, content: Content, fingerprint: str, strategies: Sequence[str]) -> Prepared | None:
        """A worker died over this document: it is worked on alone, where it can harm nobody, unless its content is quarantined."""
        ledger = self._reconciler.state.ledger
        if suspicion.quarantines(fingerprint):
            self._reconciler.end(ledger.finish(self._attempt, failed=suspicion.reason, stat=content.stat))
            return None
        try:
            with self._reconciler.isolation.alone(self._require_lease, self._seconds_left, fresh=suspicion.crashes > 0) as alone:
                self._start_deadline()  # others may have been alone before
                return self._with_chunks(content, fingerprint, strategies, handling_alone(alone))
        except Crashed as crash:
            _log.warning("document_crashed", document_id=self._attempt.document_id, crashes_before=suspicion.crashes, how=str(crash))
            reason = (
                f"{DocumentState.QUARANTINED}: {CRASHES_TO_QUARANTINE} times in a row the process in which it was worked on alone has "
                f"ended; the last time {crash}. It is left alone until the file changes, or until: docmill retry"
            )
            self._reconciler.end(ledger.crashed(self._attempt, fingerprint, stat=content.stat, reason=reason), self._attempt.lane)
            return None

    def _with_chunks(self, content: Content, fingerprint: str, strategies: Sequence[str], handling: Handling) -> Prepared:
        document = handling.load(self._attempt.document_id, content.content)
        counts: dict[str, dict[str, int]] = {}
        writes: list[Write] = []
        counters = {"chunks": 0, "embedded": 0, "reused": 0}
        for target in self._targets:
            self._check_deadline()
            wanted = [strategy for strategy in target.knowledge_base.strategies if strategy.name in strategies]
            by_strategy = records_by_strategy(
                self._attempt.document_id, self._attempt.generation, fingerprint, document, wanted, handling.chunk
            )
            counts[target.index_set] = {name: len(records) for name, records in by_strategy.items() if records}
            for strategy in wanted:
                records: Sequence[ChunkRecord] = by_strategy[strategy.name]
                if not records:
                    continue
                counters["chunks"] += len(records)
                if strategy.kind is not StrategyKind.BM25:
                    records = self._embed(target, strategy, records, counters, handling)
                writes.append(Write(target.store(strategy), target.index(strategy.name), records))
        state = DocumentState.LIVE if writes else DocumentState.EMPTY
        commit = Commit(
            attempt=self._attempt,
            state=state,
            fingerprint=fingerprint,
            chunks=counts,
            stat=content.stat,
            size_bytes=content.size_bytes,
            counters={name: value for name, value in counters.items() if value},
        )
        return Prepared(commit, tuple(writes))

    def _embed(
        self, target: Target, strategy: StrategySpec, records: Sequence[ChunkRecord], counters: dict[str, int], handling: Handling
    ) -> list[ChunkRecord]:
        model = handling.model_of(target, strategy)
        indexes = [
            other.index(theirs.name)
            for other in (target, *(other for other in self._targets if other is not target))
            for theirs in other.knowledge_base.strategies
            if theirs.embedding_shape == strategy.embedding_shape
        ]
        batch_size = strategy.embedding.batch_size if strategy.embedding is not None else TEXTS_A_CALL
        done = embed_records(
            records, model, target.vectors, indexes, texts_a_call=min(batch_size, TEXTS_A_CALL), between=self._check_deadline
        )
        counters["embedded"] += done.embedded
        counters["reused"] += done.reused
        self._check_deadline()
        return done.records

    def _without_chunks(
        self, state: DocumentState, fingerprint: str = "", *, stat: str = "", size_bytes: int = 0, reason: str = ""
    ) -> Prepared:
        counts: Mapping[str, Mapping[str, int]] = {target.index_set: {} for target in self._targets}
        return Prepared(Commit(self._attempt, state, fingerprint, counts, stat=stat, size_bytes=size_bytes, reason=reason))

    def _start_deadline(self) -> None:
        self._ends_at = self._reconciler.clock.monotonic() + self._reconciler.deadline_seconds

    def _seconds_left(self) -> float:
        return self._ends_at - self._reconciler.clock.monotonic()

    def _require_lease(self) -> None:
        if self._reconciler.keeper.is_lost(self._attempt):
            raise Superseded(f"the lease of {self._attempt.document_id} ran out")

    def _check_deadline(self) -> None:
        self._require_lease()
        if self._seconds_left() < 0:
            raise DocumentDeadlineExceeded(f"{self._attempt.document_id} took longer than {self._reconciler.deadline_seconds:.0f} s")
