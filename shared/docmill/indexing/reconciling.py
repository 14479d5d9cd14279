"""Reconciling: makes one document's index state equal to its source. The one task of docmill."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

import structlog

from docmill.domain.chunks import ChunkRecord, Vector
from docmill.domain.documents import fingerprint_of
from docmill.domain.errors import (
    CallCancelled,
    DocmillError,
    DocumentDeadlineExceeded,
    DocumentSkipped,
    ProviderError,
    ProviderRateLimited,
    StoreDown,
    Superseded,
    TextRefused,
)
from docmill.domain.knowledge_bases import StrategyKind, StrategySpec
from docmill.domain.registry import CRASHES_TO_QUARANTINE, Attempt, Commit, CommitResult, DocumentState, Lane, Suspicion, TaskMessage
from docmill.indexing.batchers import Batchers, is_remote
from docmill.indexing.committing import OUTAGE_PAUSE_SECONDS, Prepared, Write
from docmill.indexing.embedding import TEXTS_A_CALL, embed_here, embed_records
from docmill.indexing.giving_back import give_back
from docmill.indexing.handling import Handling, handling_alone, handling_here
from docmill.indexing.leasekeeping import LeaseKeeper
from docmill.indexing.paid_vectors import Need, embed_paid
from docmill.indexing.preparing import Chunker, records_by_strategy
from docmill.indexing.sources import Content, Source
from docmill.indexing.summarising import Summaries, stored_summaries
from docmill.indexing.targets import Target
from docmill.indexing.turns import Turns
from docmill.ports.clock import Clock
from docmill.ports.isolation import Crashed, Isolation
from docmill.ports.models import Caller
from docmill.ports.queue import TaskQueue
from docmill.ports.state import KnowledgeBaseState

_log = structlog.get_logger(__name__)
#: When to look again whether another attempt has stored what it has claimed: twice as late each time, and at the latest.
_FIRST_LOOK_SECONDS: Final = 0.05
_LAST_LOOK_SECONDS: Final = 1.0


@dataclass(frozen=True, slots=True)
class Reconciler:
    """Carries out tasks for one knowledge base.

    Attributes:
        targets: the index sets that a change goes to: the served one, and the one being built.
        submit: hands a prepared document to the committer.
        isolation: where a suspect is worked on.
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

    def reconcile(self, message: TaskMessage, turns: Turns | None = None) -> None:
        """Begins an attempt and ends it, or hands it to the committer; does nothing for a message that the ledger does not know.

        While a store is out a document has not failed: it is given back after a pause. Nor has it while a provider is to be left alone, or
        when its call was cancelled: it waits in the ledger then, without a message, until whoever plans the work sends one.

        Args:
            message: what to work on.
            turns: one of which the caller has taken; it is left while this document waits for others.

        Raises:
            StoreDown: the registry does not answer; the ledger sends the document again.
        """
        attempt = self.state.ledger.begin(message, self.lease_seconds)
        if attempt is None:
            return
        self.keeper.hold(attempt)
        handed_over = False
        try:
            prepared = _Preparation(self, attempt, turns or Turns(1)).run()
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

    def end(self, result: CommitResult, lane: Lane = Lane.LIVE) -> None:
        """Sends the message of a document that was changed while it was in work, or that is to be tried again."""
        if result.next_message is not None:
            self.tasks.send([result.next_message], lane)


@dataclass(slots=True)
class _Cut:
    """A document in chunks.

    Attributes:
        needs: by the place of their write, those whose records still need the vectors of a provider.
    """

    content: Content
    fingerprint: str
    counts: dict[str, dict[str, int]] = field(default_factory=dict)
    writes: list[Write] = field(default_factory=list)
    needs: dict[int, Need] = field(default_factory=dict)
    counters: dict[str, int] = field(default_factory=lambda: {"chunks": 0, "embedded": 0, "reused": 0})


class _Preparation:
    """One attempt, from the source to what the committer takes."""

    def __init__(self, reconciler: Reconciler, attempt: Attempt, turns: Turns) -> None:
        self._reconciler = reconciler
        self._attempt = attempt
        self._turns = turns
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
            handling = handling_here(self._reconciler.source, self._reconciler.chunker)
            return self._with_paid_vectors(self._with_chunks(content, fingerprint, strategies, handling))
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
                cut = self._with_chunks(content, fingerprint, strategies, handling_alone(alone))
        except Crashed as crash:
            _log.warning("document_crashed", document_id=self._attempt.document_id, crashes_before=suspicion.crashes, how=str(crash))
            reason = (
                f"{DocumentState.QUARANTINED}: {CRASHES_TO_QUARANTINE} times in a row the process in which it was worked on alone has "
                f"ended; the last time {crash}. It is left alone until the file changes, or until: docmill retry"
            )
            self._reconciler.end(ledger.crashed(self._attempt, fingerprint, stat=content.stat, reason=reason), self._attempt.lane)
            return None
        return self._with_paid_vectors(cut)

    def _with_chunks(self, content: Content, fingerprint: str, strategies: Sequence[str], handling: Handling) -> "_Cut":
        """The document's chunks, with the vectors that are made where it is handled."""
        document = handling.load(self._attempt.document_id, content.content)
        cut = _Cut(content, fingerprint)
        for target in self._targets:
            self._check_deadline()
            wanted = [strategy for strategy in target.knowledge_base.strategies if strategy.name in strategies]
            by_strategy = records_by_strategy(
                self._attempt.document_id, self._attempt.generation, fingerprint, document, wanted, handling.chunk
            )
            cut.counts[target.index_set] = {name: len(records) for name, records in by_strategy.items() if records}
            for strategy in wanted:
                records: Sequence[ChunkRecord] = by_strategy[strategy.name]
                if not records:
                    continue
                cut.counters["chunks"] += len(records)
                if strategy.kind is not StrategyKind.BM25:
                    if self._is_paid(strategy):
                        cut.needs[len(cut.writes)] = self._need(target, strategy, records)
                    else:
                        records = self._embed(target, strategy, records, cut.counters, handling)
                cut.writes.append(Write(target.store(strategy), target.index(strategy.name), records))
        return cut

    def _is_paid(self, strategy: StrategySpec) -> bool:
        """Whether a provider makes the vectors, or the summaries of a document that need not be alone."""
        if self._reconciler.batchers is None or strategy.embedding is None:
            return False
        return is_remote(strategy.embedding) or (strategy.chat_model is not None and self._attempt.suspicion is None)

    def _need(self, target: Target, strategy: StrategySpec, records: Sequence[ChunkRecord]) -> Need:
        spec, shape = strategy.embedding, strategy.embedding_shape
        if spec is None or shape is None:
            raise ValueError(f"{strategy.name} embeds nothing")
        indexes = self._indexes_with_vectors_of(target, strategy)
        summaries = self._summaries(target, strategy)
        return Need(records, target.models[strategy.name], spec, shape, target.vectors, indexes, summaries)

    def _summaries(self, target: Target, strategy: StrategySpec) -> Summaries | None:
        """What a strategy embeds in the place of its chunks; None for one that embeds the chunks."""
        summariser = target.summarisers.get(strategy.name)
        if summariser is None:
            return None
        indexes = self._indexes_where(target, lambda theirs: theirs.summary_shape == strategy.summary_shape)

        def write(wanted: Sequence[ChunkRecord]) -> Mapping[str, str]:
            with self._waiting(sum(len(record.text) for record in wanted)):
                return summariser.write(wanted, self._caller, between=self._require_lease)

        return Summaries(partial(stored_summaries, store=target.vectors, indexes=indexes), write)

    @property
    def _caller(self) -> Caller:
        return Caller(self._attempt.knowledge_base, self._attempt.run_id, self._targets[0].knowledge_base.max_tokens_per_run)

    def _with_paid_vectors(self, cut: "_Cut") -> Prepared:
        """What to commit, with the vectors that providers make."""
        batchers = self._reconciler.batchers
        if cut.needs and batchers is not None:
            self._check_deadline()
            characters = sum(len(record.text) for need in cut.needs.values() for record in need.records)

            def embed(need: Need, texts: Sequence[str]) -> list[Vector]:
                if not is_remote(need.spec):
                    return embed_here(need.model, texts, between=self._check_deadline)
                with self._waiting(characters):
                    return batchers.embed(need.model, need.spec, self._caller, texts, self._require_lease)

            done = embed_paid(
                list(cut.needs.values()), claim=partial(self._reconciler.state.ledger.claim, self._attempt), wait=self._wait, embed=embed
            )
            for place, embedded in zip(cut.needs, done, strict=True):
                cut.writes[place] = replace(cut.writes[place], records=embedded.records)
                cut.counters["embedded"] += embedded.embedded
                cut.counters["reused"] += embedded.reused
            self._check_deadline()
        commit = Commit(
            attempt=self._attempt,
            state=DocumentState.LIVE if cut.writes else DocumentState.EMPTY,
            fingerprint=cut.fingerprint,
            chunks=cut.counts,
            stat=cut.content.stat,
            size_bytes=cut.content.size_bytes,
            counters={name: value for name, value in cut.counters.items() if value},
        )
        return Prepared(commit, tuple(cut.writes))

    def _wait(self, tries: int) -> None:
        """Until it is worth while to look again what other attempts have stored."""
        longest = min(_FIRST_LOOK_SECONDS * 2 ** min(tries, 10), _LAST_LOOK_SECONDS)
        with self._waiting():
            self._reconciler.keeper.pause(longest * random.uniform(0.5, 1.0))
        self._require_lease()

    @contextmanager
    def _waiting(self, characters: int = 0) -> Iterator[None]:
        """Lets other documents work meanwhile; the time of this one stands still."""
        clock = self._reconciler.clock
        began = clock.monotonic()
        try:
            with self._turns.left(characters):
                yield
        finally:
            self._ends_at += clock.monotonic() - began

    def _indexes_with_vectors_of(self, target: Target, strategy: StrategySpec) -> list[str]:
        return self._indexes_where(target, lambda theirs: theirs.embedding_shape == strategy.embedding_shape)

    def _indexes_where(self, target: Target, is_alike: Callable[[StrategySpec], bool]) -> list[str]:
        """The indexes of the strategies that are alike, those of ``target`` first."""
        return [
            other.index(theirs.name)
            for other in (target, *(other for other in self._targets if other is not target))
            for theirs in other.knowledge_base.strategies
            if is_alike(theirs)
        ]

    def _embed(
        self, target: Target, strategy: StrategySpec, records: Sequence[ChunkRecord], counters: dict[str, int], handling: Handling
    ) -> list[ChunkRecord]:
        model = handling.model_of(target, strategy)
        indexes = self._indexes_with_vectors_of(target, strategy)
        batch_size = strategy.embedding.batch_size if strategy.embedding is not None else TEXTS_A_CALL
        done = embed_records(
            records,
            model,
            target.vectors,
            indexes,
            summaries=self._summaries(target, strategy),
            texts_a_call=min(batch_size, TEXTS_A_CALL),
            between=self._check_deadline,
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
