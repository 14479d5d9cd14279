"""Index sets: which ones a knowledge base has, which one is served, and when the one being built takes over.

While two exist, every change goes to both. The pointer moves once a run that began after the building set was opened is complete,
nothing in that set failed, and it has every document of the old one; the old set goes after the grace.

One process decides which sets there are: the one that scans (``open``, ``reopen_if_swapped``). The others read what it noted in the
registry, once in ``FOLLOW_SECONDS``; a change that one of them still wrote to the old set alone is found missing before the pointer moves.
"""

import hashlib
import math
import threading
import time
from collections.abc import Callable, Sequence
from typing import Final

import structlog
from pydantic import TypeAdapter, ValidationError

from docmill.domain.errors import NotAvailable, StoreDown
from docmill.domain.knowledge_bases import EmbeddingModelSpec, KnowledgeBase
from docmill.domain.registry import DocumentState
from docmill.domain.runs import RunState
from docmill.indexing.batches import in_batches
from docmill.indexing.targets import Target
from docmill.ports.models import EmbeddingModel
from docmill.ports.registry import Registry
from docmill.ports.state import KnowledgeBaseState
from docmill.ports.stores import LexicalStore, VectorStore

_log = structlog.get_logger(__name__)
_SPECIFICATION: Final = TypeAdapter(KnowledgeBase)
_ENTRIES: Final = 500
#: The note that names the set being built, for processes that have no stores.
BUILDING: Final = "building"
#: The note that lists the runs which had begun before that set was opened.
BUILDING_SINCE: Final = "building_since"
#: How old what a process knows of the index sets may be, when another process decides.
FOLLOW_SECONDS: Final = 1.0
#: The note that the producer keeps while it is told of changes.
WATCHING: Final = "watching"


def index_set_id(pipeline_hash: str, store_identities: Sequence[str]) -> str:
    """12 hexadecimal digits over the pipeline and the stores, so that a wiped store is a new set."""
    return hashlib.sha256("\0".join((pipeline_hash, *store_identities)).encode()).hexdigest()[:12]


def sets_to_fill(state: KnowledgeBaseState) -> list[str]:
    """The index sets that a scan must bring to equal the disk: the served one and the one being built."""
    served, building = state.registry.position().index_set, state.registry.noted(BUILDING)
    return list(dict.fromkeys(index_set for index_set in (served, building) if index_set))


class IndexSets:
    """The index sets of one knowledge base, in a process that has the stores."""

    def __init__(
        self,
        knowledge_base: KnowledgeBase,
        state: KnowledgeBaseState,
        vectors: VectorStore,
        lexical: LexicalStore,
        model_of: Callable[[EmbeddingModelSpec], EmbeddingModel],
        *,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Nothing is made before ``open``; a process that never calls it follows what another one noted."""
        self._knowledge_base = knowledge_base
        self._state = state
        self.vectors = vectors
        self.lexical = lexical
        self._model_of = model_of
        self._monotonic = monotonic
        self._current = self._configured()
        self._served = self._current
        self._building: Target | None = None
        self._decides = False
        self._followed_at = -math.inf
        self._lock = threading.Lock()

    def open(self) -> None:
        """Makes the indexes of the configured set, and serves it when no other one is served.

        Raises:
            WrongDimension: an index is there with other dimensions.
        """
        registry = self._state.registry
        self._decides = True
        self._current.create_indexes()
        text = _SPECIFICATION.dump_json(self._current.knowledge_base).decode()
        registry.note(_specification_key(self._current.index_set), text)
        served = registry.position().index_set
        old = self._known_target(served) if served not in (None, self._current.index_set) else None
        self._building = self._current if old is not None else None
        if old is None:
            registry.serve(self._current.index_set)
            registry.note(BUILDING, None)
            self._served = self._current
            return
        self._served = old
        earlier = (self._state.ledger.current_run(), self._state.ledger.last_complete_run())
        registry.note(BUILDING_SINCE, " ".join(run.id for run in earlier if run is not None))
        registry.note(BUILDING, self._current.index_set)
        _log.info("index_set_is_built", index_set=self._current.index_set, served=old.index_set)

    def reopen_if_swapped(self) -> bool:
        """Opens another set when a store was wiped or swapped, which its identity tells; True when it did.

        Raises:
            StoreDown: a store does not answer.
        """
        now = self._configured()
        if now.index_set == self._current.index_set:
            return False
        _log.warning("store_was_swapped", index_set=now.index_set, before=self._current.index_set, then="everything is indexed again")
        self._current = now
        self.open()
        return True

    def targets(self) -> Sequence[Target]:
        """Where a change goes: the served set first, then the one being built.

        Raises:
            StoreDown: another process decides, and has not opened a set that this one can write; or the registry does not answer.
        """
        self._follow()
        targets = (self._served,) if self._building is None else (self._served, self._building)
        if self._decides:
            return targets
        identities = (self.vectors.identity(), self.lexical.identity())
        writable = [one for one in targets if one.index_set == index_set_id(one.knowledge_base.pipeline_hash, identities)]
        if not writable:
            raise StoreDown(
                f"no index set of {self._knowledge_base.name!r} can be written now: its stores were swapped, or this version makes other"
                " chunks; the process that scans opens one"
            )
        return writable

    def served(self) -> Target:
        """The set that queries read; the one that was served last while the registry does not answer."""
        try:
            self._follow()
        except StoreDown as error:
            _log.debug("index_sets_not_read", error=str(error))
        return self._served

    def targets_there(self) -> Sequence[Target]:
        """What was served and built when the registry last answered, as far as the stores have its indexes."""
        known = (self._served, self._building)
        return [target for target in known if target is not None and self._is_there(target)]

    def settle(self) -> bool:
        """Serves the set being built if it is complete; True when it took over now."""
        self._follow()
        building = self._building
        if building is None or not self._is_complete(building):
            return False
        self._state.registry.serve(building.index_set)
        self._state.registry.note(BUILDING, None)
        _log.info("index_set_is_served", index_set=building.index_set, before=self._served.index_set)
        self._served, self._building = building, None
        return True

    def _is_complete(self, building: Target) -> bool:
        run = self._state.ledger.last_complete_run()
        before = (self._state.registry.noted(BUILDING_SINCE) or "").split()
        if run is None or run.state is not RunState.COMPLETE or run.id in before:
            return False
        if sum(self._state.ledger.outstanding()):
            return False  # a document that an earlier run planned, or that is being changed, may not be in the new set yet
        states, _ = self._state.registry.counts(building.index_set)
        if states.get(DocumentState.FAILED, 0) or states.get(DocumentState.QUARANTINED, 0):
            return False
        for entries in in_batches(self._state.registry.scan(self._served.index_set), _ENTRIES):
            there = [document_id for document_id, entry in entries if entry.state is not DocumentState.GONE]
            if len(self._state.registry.entries(building.index_set, there)[1]) < len(there):
                return False
        return True

    def drop_others(self) -> None:
        """Removes every set that is neither served nor being built; call it a grace after the last change of sets."""
        there = self._state.registry.index_sets()
        self._followed_at = -math.inf  # what was opened since then is not among them
        self._follow()
        kept = {target.index_set for target in (self._served, self._building) if target is not None}
        for index_set in there:
            if index_set in kept:
                continue
            target = self._known_target(index_set)
            if target is not None:
                target.drop_indexes()
            self._state.registry.forget_index_set(index_set)
            self._state.registry.note(_specification_key(index_set), None)

    def _follow(self) -> None:
        """Reads what the deciding process noted, unless that is known well enough; sets that cannot be read stay as they were."""
        with self._lock:
            if self._decides or self._monotonic() - self._followed_at < FOLLOW_SECONDS:
                return
            self._followed_at = self._monotonic()  # also when it fails: not every query waits for a registry that is silent
            try:
                self._served = self._followed(self._state.registry.position().index_set) or self._served
                self._building = self._followed(self._state.registry.noted(BUILDING))
            except StoreDown:
                self._followed_at -= FOLLOW_SECONDS / 2
                raise

    def _followed(self, index_set: str | None) -> Target | None:
        known = next((one for one in (self._served, self._building) if one is not None and one.index_set == index_set), None)
        return known or self._known_target(index_set)

    def _configured(self) -> Target:
        identities = (self.vectors.identity(), self.lexical.identity())
        return self._target(index_set_id(self._knowledge_base.pipeline_hash, identities), self._knowledge_base)

    def _known_target(self, index_set: str | None) -> Target | None:
        """The target of a set that was made earlier, or None when it cannot be read any more."""
        text = self._state.registry.noted(_specification_key(index_set)) if index_set is not None else None
        if index_set is None or text is None:
            return None
        try:
            knowledge_base = _SPECIFICATION.validate_json(text)
            target = self._target(index_set, knowledge_base)
        except (ValidationError, NotAvailable) as error:
            _log.warning("index_set_cannot_be_served", index_set=index_set, reason=str(error))
            return None
        return target if self._is_there(target) else None

    def _is_there(self, target: Target) -> bool:
        names = {target.index(strategy.name) for strategy in target.knowledge_base.strategies}
        return names <= {*self.vectors.indexes(), *self.lexical.indexes()}

    def _target(self, index_set: str, knowledge_base: KnowledgeBase) -> Target:
        models = {
            strategy.name: self._model_of(strategy.embedding) for strategy in knowledge_base.strategies if strategy.embedding is not None
        }
        return Target(index_set, knowledge_base, self.vectors, self.lexical, models)


def _specification_key(index_set: str) -> str:
    return f"specification:{index_set}"


def note_targets(registry: Registry, targets: Sequence[Target]) -> None:
    """Writes what a lost registry must know again: how each set was configured, which is served (the first), which is being built."""
    for target in targets:
        registry.note(_specification_key(target.index_set), _SPECIFICATION.dump_json(target.knowledge_base).decode())
    registry.note(BUILDING, targets[1].index_set if len(targets) > 1 else None)
    registry.serve(targets[0].index_set)
