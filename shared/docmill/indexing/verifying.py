"""Verifying: compares sources, registry and stores in both directions, while work goes on beside it.

One pass over the files, the stores and the registry names suspects, in 8 bytes for each file and 12 for each generation in a store. Each
suspect is then looked at again by itself, and only what is wrong twice, with nobody at work on it, is a finding.
"""

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import structlog

from docmill.domain.chunks import StoredGeneration
from docmill.domain.errors import DocmillError, DocumentUnknown, RootUnavailable
from docmill.domain.knowledge_bases import StrategySpec
from docmill.domain.registry import DocumentState, Entry
from docmill.domain.runs import RunState
from docmill.domain.verification import Finding, FindingKind, Verification
from docmill.indexing.batches import contains, document_key, in_batches
from docmill.indexing.comparing import difference, source_state
from docmill.indexing.repairing import Repairer, Stray, Suspect
from docmill.indexing.sources import Source
from docmill.indexing.store_checks import check_stores, store_name
from docmill.indexing.stored_counts import StoredCounts
from docmill.indexing.targets import Target
from docmill.ports.clock import Clock
from docmill.ports.queue import TaskQueue
from docmill.ports.state import KnowledgeBaseState

_log = structlog.get_logger(__name__)
_BATCH: Final = 500
_LOOK: Final = 100


class SeenDocument(Protocol):
    """A document that the disk has."""

    @property
    def document_id(self) -> str:
        """Its id."""
        ...


class Disk(Protocol):
    """One look at all sources; ``docmill_services.producer.scan.Scan`` is one."""

    @property
    def unavailable(self) -> Mapping[bytes, RootUnavailable]:
        """Why a root could not be looked at, for each such root."""
        ...

    def files(self) -> Iterator[SeenDocument]:
        """Every document that belongs to the knowledge base; called once."""
        ...

    def proves_gone(self, document_id: str) -> bool:
        """Whether the absence of a document from ``files`` means that it is gone; raises ``DocumentUnknown`` for what is no id."""
        ...


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a comparison beside running workers waits.

    Attributes:
        settle_seconds: between two looks: longer than an event of the file system needs to become a ledger entry.
        limit_seconds: for work that is going on; what is still in work then is ``pending``.
    """

    settle_seconds: float = 2.0
    limit_seconds: float = 30.0


@dataclass(frozen=True, slots=True)
class Verifier:
    """Compares one knowledge base.

    Attributes:
        targets: the index sets, the served one first; the last one is as the knowledge base is configured now.
        disk: a fresh look at the sources.
        patience: None when nobody works on the knowledge base: then what is planned and not done is a finding too.
        pause: called between batches, so that a comparison never crowds out the work.
    """

    state: KnowledgeBaseState
    targets: Sequence[Target]
    source: Source
    disk: Disk
    tasks: TaskQueue
    clock: Clock
    patience: Patience | None
    pause: Callable[[], None] = lambda: None

    def verify(self, *, repair: bool = False) -> Verification:
        """Compares everything; with ``repair`` it also plans again, or removes, what is wrong, and says so in each finding.

        Raises:
            StoreDown: the registry does not answer, or a store stopped to while documents were looked at again.
            RootUnavailable: no source can be looked at.
        """
        checks = check_stores(self.targets, make_again=repair)
        found = list(checks.findings)
        suspects: dict[str, None] = {}
        strays: list[Stray] = []
        seen = self._compare_disk(suspects)
        for target in self.targets:
            readable = [strategy for strategy in target.knowledge_base.strategies if target.index(strategy.name) in checks.readable]
            counts: dict[str, StoredCounts] = {}
            for strategy in readable:
                try:
                    counts[strategy.name] = StoredCounts(self._noting_strays(target, strategy, strays))
                except _NoAnswer as failed:
                    found.append(checks.no_answer(target, strategy, failed.error))
            self._compare_registry(target, counts, seen, suspects)
        confirmed, pending = self._confirmed(list(suspects), checks.readable)
        confirmed_strays = [stray for stray in strays if self._is_left_over(stray)]
        if repair:
            repairer = Repairer(self.state, self.targets, self.tasks)
            found += repairer.plan(confirmed) + repairer.remove(confirmed_strays)
        else:
            found += [suspect.finding for suspect in confirmed] + [stray.finding for stray in confirmed_strays]
        return Verification(len(seen), tuple(sorted(set(found), key=_order)), pending)

    # ---- the pass

    def _compare_disk(self, suspects: dict[str, None]) -> "array[int]":
        """Names documents whose entries differ from their sources; returns the keys of all documents, in order."""
        seen: array[int] = array("Q")
        for files in in_batches(self.disk.files(), _BATCH):
            ids = [file.document_id for file in files]
            seen.extend(document_key(document_id) for document_id in ids)
            entries = [self.state.registry.entries(target.index_set, ids)[1] for target in self.targets]
            for document_id in ids:
                if any(self._differences(document_id, [of_set.get(document_id) for of_set in entries])):
                    suspects[document_id] = None
            self.pause()
        unavailable = self.disk.unavailable
        if unavailable and not seen:
            raise next(iter(unavailable.values()))
        for error in unavailable.values():
            _log.warning("root_unavailable", error=str(error), then="its documents are not compared")
        return array("Q", sorted(seen))

    def _noting_strays(self, target: Target, strategy: StrategySpec, strays: list[Stray]) -> Iterator[StoredGeneration]:
        for batch in in_batches(_stored(target, strategy), _BATCH):
            generations = [(one.document_id, one.generation) for one in batch]
            for document_id, generation in self.state.registry.unknown_generations(target.index_set, generations):
                strays.append(Stray(target, strategy, document_id, generation))
            yield from batch
            self.pause()

    def _compare_registry(self, target: Target, counts: Mapping[str, StoredCounts], seen: "array[int]", suspects: dict[str, None]) -> None:
        for entries in in_batches(self.state.registry.scan(target.index_set), _BATCH):
            for document_id, entry in entries:
                if entry.state is DocumentState.GONE:
                    continue
                unseen = not contains(seen, document_key(document_id))
                if unseen or _differs_from(counts, entry):
                    suspects[document_id] = None
            self.pause()

    # ---- the second look

    def _confirmed(self, waiting: list[str], readable: frozenset[str]) -> tuple[list[Suspect], int]:
        """What is wrong twice in a row, and how many documents are still in work."""
        if self.patience is None:
            return [
                suspect for batch in in_batches(waiting, _LOOK) for found in self._look(batch, readable).values() for suspect in found or ()
            ], 0
        confirmed: list[Suspect] = []
        before: dict[str, list[Suspect]] = {}
        ends_at = self.clock.monotonic() + self.patience.limit_seconds
        while waiting:
            again = waiting
            if not self._is_scanned_now():
                again = []
                for batch in in_batches(waiting, _LOOK):
                    for document_id, found in self._look(batch, readable).items():
                        if found and before.get(document_id) == found:
                            confirmed += found
                        elif found is None or found:
                            again.append(document_id)
                            before[document_id] = found or []
                    self.pause()
            waiting = again
            if not waiting or self.clock.monotonic() >= ends_at:
                break
            self.clock.sleep(self.patience.settle_seconds)
        changing = [found for document_id in waiting if (found := before.get(document_id))]
        return confirmed + [suspect for found in changing for suspect in found], len(waiting) - len(changing)

    def _is_scanned_now(self) -> bool:
        """Whether a scan is going on that may plan any document yet."""
        run = self.state.ledger.current_run()
        return run is not None and run.state in (RunState.SCANNING, RunState.BACKING_OFF)

    def _look(self, document_ids: Sequence[str], readable: frozenset[str]) -> dict[str, list[Suspect] | None]:
        """What is wrong with each document; None where somebody is at work on it, or it changed while it was looked at."""
        busy = self._busy(document_ids)
        free = [document_id for document_id in document_ids if document_id not in busy]
        entries = self._entries(free)
        found: dict[str, list[Suspect] | None] = dict.fromkeys(document_ids)
        for document_id in free:
            of_document = [of_set.get(document_id) for of_set in entries]
            found[document_id] = [
                suspect
                for target, entry, different in zip(self.targets, of_document, self._differences(document_id, of_document), strict=True)
                for suspect in self._suspects(target, document_id, entry, different, readable)
            ]
        after, busy = self._entries(free), self._busy(free)
        changed = [one for one in free if one in busy or any(old.get(one) != new.get(one) for old, new in zip(entries, after, strict=True))]
        return found | dict.fromkeys(changed)

    def _busy(self, document_ids: Sequence[str]) -> set[str]:
        if self.patience is None:
            return set()
        flags = self.state.ledger.pending(document_ids)
        return {document_id for document_id, pending in zip(document_ids, flags, strict=True) if pending}

    def _entries(self, document_ids: Sequence[str]) -> list[Mapping[str, Entry]]:
        return [self.state.registry.entries(target.index_set, document_ids)[1] for target in self.targets]

    def _differences(self, document_id: str, entries: Sequence[Entry | None]) -> list[tuple[FindingKind, str] | None]:
        source = source_state(self.source, document_id)
        found = [
            difference(entry, source, {one.name for one in target.knowledge_base.strategies} if target is self.targets[-1] else None)
            for target, entry in zip(self.targets, entries, strict=True)
        ]
        return [None if one is not None and one[0] is FindingKind.ORPHAN and not self._is_gone(document_id) else one for one in found]

    def _is_gone(self, document_id: str) -> bool:
        try:
            return self.disk.proves_gone(document_id)
        except DocumentUnknown:
            return False

    def _suspects(
        self, target: Target, document_id: str, entry: Entry | None, different: tuple[FindingKind, str] | None, readable: frozenset[str]
    ) -> Iterator[Suspect]:
        where = "" if target is self.targets[0] else f" (index set {target.index_set}, which is being built)"
        if different is not None:
            kind, detail = different
            yield Suspect(target, document_id, entry, Finding(kind, document_id, "registry", detail + where))
            if kind is FindingKind.ORPHAN:
                return
        if entry is None or entry.live is None or entry.state is DocumentState.GONE:
            return
        for strategy in target.knowledge_base.strategies:
            expected, index = entry.live.chunks.get(strategy.name, 0), target.index(strategy.name)
            if not expected or index not in readable:
                continue
            there = len(target.store(strategy).chunks_of(index, document_id, entry.live.generation))
            if there != expected:
                kind = FindingKind.COUNT if there else FindingKind.MISSING
                detail = f"{strategy.name} holds {there} of {expected} chunks of generation {entry.live.generation}{where}"
                yield Suspect(target, document_id, entry, Finding(kind, document_id, store_name(strategy), detail))

    def _is_left_over(self, stray: Stray) -> bool:
        generation = [(stray.document_id, stray.generation)]
        store, index = stray.target.store(stray.strategy), stray.target.index(stray.strategy.name)
        try:
            left = store.chunks_of(index, stray.document_id, stray.generation)
        except DocmillError as error:
            _log.warning("not_looked_at_again", document_id=stray.document_id, error=str(error))
            return False
        return bool(left) and bool(self.state.registry.unknown_generations(stray.target.index_set, generation))


class _NoAnswer(Exception):
    def __init__(self, error: DocmillError) -> None:
        super().__init__(error)
        self.error = error


def _stored(target: Target, strategy: StrategySpec) -> Iterator[StoredGeneration]:
    """The generations of an index; what fails here is the store's failure, and not the registry's."""
    try:
        yield from target.store(strategy).generations(target.index(strategy.name))
    except DocmillError as error:
        raise _NoAnswer(error) from error


def _differs_from(counts: Mapping[str, StoredCounts], entry: Entry) -> bool:
    if entry.live is None:
        return False
    generation = entry.live.generation
    return any(expected and name in counts and counts[name].count(generation) != expected for name, expected in entry.live.chunks.items())


def _order(finding: Finding) -> tuple[bool, str, str, str]:
    return finding.document_id is not None, finding.document_id or "", finding.kind.value, finding.detail
