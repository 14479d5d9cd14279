"""Rebuilding: makes a registry that was lost again from what the stores hold. Files are read, nothing is embedded.

The state's epoch is 0 from the loss to the end of the rebuild, so nothing can be minted meanwhile, and attempts of an earlier time
can end nothing. Of each document the highest generation is adopted that is whole in every store and made of what its file holds now;
where there is none, the highest whole one, which is served until the document was indexed again. What is left over belongs to nobody:
anti-entropy removes it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import structlog

from docmill.domain.chunks import StoredGeneration
from docmill.domain.documents import fingerprint_of
from docmill.domain.errors import DocmillError, Superseded
from docmill.domain.generations import epoch_of
from docmill.domain.registry import DocumentState, Entry, Lane, Version
from docmill.indexing.batches import PLANNED_AT_ONCE, in_batches
from docmill.indexing.epochs import next_epoch
from docmill.indexing.index_sets import note_targets
from docmill.indexing.sources import Source
from docmill.indexing.stored_counts import IN_PART, StoredCounts
from docmill.indexing.targets import Target
from docmill.ports.clock import Clock
from docmill.ports.queue import TaskQueue
from docmill.ports.registry import REBUILD_ROLE
from docmill.ports.state import KnowledgeBaseState

_log = structlog.get_logger(__name__)
_BATCH: Final = 200
_ROLE_SECONDS: Final = 60.0
_RENEW_SECONDS: Final = 10.0


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What a rebuild came to.

    Attributes:
        epoch: in which the state is open now.
        served: documents that are served again, over all index sets.
        stale: those of them whose source is another by now, or cannot be read; they are indexed again first.
    """

    epoch: int
    served: int
    stale: int


@dataclass(frozen=True, slots=True)
class Rebuild:
    """How a lost registry is made again.

    Attributes:
        targets: the index sets, the served one first, then the one being built.
        holder: names this process.
        grace_seconds: how long a write that a store has taken, but not shown, may be on its way.
    """

    state: KnowledgeBaseState
    targets: Sequence[Target]
    source: Source
    tasks: TaskQueue
    clock: Clock
    holder: str
    grace_seconds: float

    def carry_out(self) -> Rebuilt | None:
        """Rebuilds the registry, opens it, and starts a run; None when it is open already, or another process rebuilds it.

        Raises:
            StoreDown: the registry or a store does not answer; what was adopted is found again by the next try.
            Superseded: another process took over, or the registry was lost once more.
        """
        if self.state.registry.position().epoch:
            return None
        role = _Role.taken(self.state, self.holder)
        if role is None:
            return None
        epoch = self._next_epoch(0)
        _log.warning("registry_is_rebuilt", knowledge_base=self.targets[0].knowledge_base.name, epoch=epoch)
        self._wait(role)
        highest = max([self._adopt(target, role) for target in self.targets])
        if epoch_of(highest) >= epoch:  # a store was put in the place of another: its record is not what it was
            epoch = self._next_epoch(epoch_of(highest))
        note_targets(self.state.registry, self.targets)
        role.keep()
        if not self.state.registry.adopt(self.targets[0].index_set, [], role.token):
            raise Superseded("another process has rebuilt the registry")
        rebuilt = self._opened(self.state.registry.raise_epoch(epoch))
        self.state.leases.release_role(REBUILD_ROLE, role.token)
        _log.warning("registry_was_rebuilt", knowledge_base=self.targets[0].knowledge_base.name, served=rebuilt.served, stale=rebuilt.stale)
        return rebuilt

    def _next_epoch(self, known: int) -> int:
        return next_epoch([store for target in self.targets for store in (target.vectors, target.lexical)], known)

    def _wait(self, role: "_Role") -> None:
        ends_at = self.clock.monotonic() + self.grace_seconds
        while (left := ends_at - self.clock.monotonic()) > 0:
            self.clock.sleep(min(left, _RENEW_SECONDS))
            role.keep()

    def _adopt(self, target: Target, role: "_Role") -> int:
        """Adopts what ``target`` has; returns the highest generation that is there."""
        counts: dict[str, StoredCounts] = {}
        for strategy in target.knowledge_base.strategies:
            store, index = target.store(strategy), target.index(strategy.name)
            store.refresh(index)
            counts[strategy.name] = StoredCounts(store.generations(index), role.keep)
        for strategy in target.knowledge_base.strategies:
            stored = target.store(strategy).generations(target.index(strategy.name))
            for batch in in_batches(_whole_generations(stored, strategy.name, counts), _BATCH):
                role.keep()
                _, known = self.state.registry.entries(target.index_set, list({one.document_id for one, _ in batch}))
                found = self._best(batch, known, list(counts))
                if found and not self.state.registry.adopt(target.index_set, found, role.token):
                    raise Superseded("another process rebuilds the registry")
        return max(of_index.highest for of_index in counts.values())

    def _best(
        self, batch: Sequence[tuple[StoredGeneration, Mapping[str, int]]], known: Mapping[str, Entry], strategies: Sequence[str]
    ) -> list[tuple[str, Entry]]:
        """The documents of which ``batch`` has something better than what is known of them so far."""
        sources: dict[str, _Source] = {}
        best = dict(known)
        for stored, chunks in batch:
            document_id = stored.document_id
            if document_id not in sources:
                sources[document_id] = _source_of(self.source, document_id, strategies)
            if not sources[document_id].strategies <= chunks.keys():
                continue
            entry = _entry(stored, chunks, sources[document_id])
            before = best.get(document_id)
            if before is None or _worth(entry) > _worth(before):
                best[document_id] = entry
        return [(document_id, entry) for document_id, entry in best.items() if entry is not known.get(document_id)]

    def _opened(self, epoch: int) -> Rebuilt:
        """Plans what is stale, and a pass over everything."""
        served = stale = 0
        first: dict[str, None] = {}
        for target in self.targets:
            for document_id, entry in self.state.registry.scan(target.index_set):
                served += 1
                stale += entry.marked
                if entry.marked and len(first) < PLANNED_AT_ONCE:
                    first[document_id] = None
        if first:
            self.tasks.send(self.state.ledger.enqueue(list(first), Lane.BULK), Lane.BULK)
        self.state.ledger.start_run()
        return Rebuilt(epoch, served, stale)


@dataclass(frozen=True, slots=True)
class _Role:
    state: KnowledgeBaseState
    holder: str
    token: int

    @classmethod
    def taken(cls, state: KnowledgeBaseState, holder: str) -> "_Role | None":
        token = state.leases.acquire_role(REBUILD_ROLE, holder, _ROLE_SECONDS)
        return None if token is None else cls(state, holder, token)

    def keep(self) -> None:
        """Raises ``Superseded`` when it was lost."""
        if self.state.leases.acquire_role(REBUILD_ROLE, self.holder, _ROLE_SECONDS) != self.token:
            raise Superseded("another process rebuilds the registry")


@dataclass(frozen=True, slots=True)
class _Source:
    """A document's source; ``fingerprint`` is None when it is gone, "" when it cannot be told."""

    strategies: frozenset[str]
    fingerprint: str | None
    stat: str = ""
    size_bytes: int = 0


def _source_of(source: Source, document_id: str, strategies: Sequence[str]) -> _Source:
    try:
        wanted = frozenset(source.strategies_for(document_id)).intersection(strategies)
        content = source.read(document_id) if wanted else None
    except DocmillError as error:
        _log.debug("source_not_compared", document_id=document_id, error=str(error))
        return _Source(frozenset(strategies), "")
    if content is None:
        return _Source(wanted or frozenset(strategies), None)
    return _Source(wanted, fingerprint_of(content.content), content.stat, content.size_bytes)


def _whole_generations(
    stored: Iterator[StoredGeneration], strategy: str, counts: Mapping[str, StoredCounts]
) -> Iterator[tuple[StoredGeneration, Mapping[str, int]]]:
    """Generations that are nowhere there in part, with their chunks by strategy; each only with the first strategy that holds it."""
    for one in stored:
        found = {name: count for name, of_index in counts.items() if (count := of_index.count(one.generation)) is not None}
        if found and next(iter(found)) == strategy and IN_PART not in found.values():
            yield one, found


def _entry(stored: StoredGeneration, chunks: Mapping[str, int], source: _Source) -> Entry:
    version = Version(stored.generation, 0, stored.fingerprint, chunks)
    if source.fingerprint is None:
        return Entry(DocumentState.LIVE, version)  # the scan plans its removal
    if source.fingerprint == stored.fingerprint and source.strategies == chunks.keys():
        return Entry(DocumentState.LIVE, version, stat=source.stat, size_bytes=source.size_bytes)
    return Entry(DocumentState.LIVE, version, marked=True)


def _worth(entry: Entry) -> tuple[bool, int]:
    """By which of two entries of a document is adopted: one that equals its source, then the higher generation."""
    return not entry.marked, entry.live.generation if entry.live is not None else 0
