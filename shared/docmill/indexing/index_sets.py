"""Index sets: which ones a knowledge base has, which one is served, and when the one being built takes over.

While two exist, every change goes to both. The pointer moves once a run that began after the building set was opened is complete,
nothing in that set failed, and it has every document of the old one; the old set goes after the grace.

One process decides which sets there are: the one that scans (``open``, ``reopen_if_swapped``). The others read what it noted in the
registry, once in ``FOLLOW_SECONDS``; a change that one of them still wrote to the old set alone is found missing before the pointer moves.
"""

import hashlib
import json
import math
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

import structlog
from pydantic import TypeAdapter

from docmill.domain.errors import NotAvailable, StoreDown
from docmill.domain.knowledge_bases import ChatModelSpec, EmbeddingModelSpec, KnowledgeBase, StrategySpec
from docmill.domain.registry import DocumentState
from docmill.domain.runs import RunState
from docmill.indexing.batches import in_batches
from docmill.indexing.summarising import KeptSummaries, Summariser, summary_pool
from docmill.indexing.targets import Target
from docmill.ports.models import ChatModel, EmbeddingModel
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
#: The note that lists the sets that were opened, the last one last.
OPENED: Final = "opened"
_REMEMBERED_SETS: Final = 20
#: The note that asks the sweeper to compare stores and registry now.
COMPARISON_WANTED: Final = "comparison_wanted"
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
        chat_model_of: Callable[[ChatModelSpec], ChatModel] | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Nothing is made before ``open``; a process that never calls it follows what another one noted.

        Without ``chat_model_of`` no strategy may need a chat model.
        """
        self._knowledge_base = knowledge_base
        self._state = state
        self.vectors = vectors
        self.lexical = lexical
        self._model_of = model_of
        self._chat_model_of = chat_model_of
        self._summary_pool, self._kept_summaries = summary_pool(), KeptSummaries()
        self._monotonic = monotonic
        self._current = self._configured()
        #: The served one, then the one being built; replaced as a whole, since other threads read it meanwhile.
        self._sets: tuple[Target, ...] = (self._current,)
        #: By the configuration of the process that decides; None while that is not known.
        self._selection: str | None = None
        self._decides = False
        self._has_followed = False
        self._followed_at = -math.inf
        self._lock = threading.Lock()

    def open(self) -> None:
        """Makes the indexes of the configured set, and serves it when no other one is served.

        Raises:
            WrongDimension: an index is there with other dimensions.
        """
        registry = self._state.registry
        self._decides = True
        served = registry.position().index_set
        old = self._known_target(served) if served not in (None, self._current.index_set) else None
        if old is not None and self._is_of_other_secrets(old):
            self._current.drop_indexes()
            registry.forget_index_set(self._current.index_set)
        self._current.create_indexes()
        if self._noted_selection(self._current.index_set) not in (None, self._knowledge_base.selection_hash):
            self._look_again_at_what_was_skipped()
        earlier_sets = [one for one in (registry.noted(OPENED) or "").split() if one != self._current.index_set]
        registry.note(OPENED, " ".join([*earlier_sets[1 - _REMEMBERED_SETS :], self._current.index_set]))
        registry.note(_specification_key(self._current.index_set), _text_of(self._current))
        if old is None:
            registry.serve(self._current.index_set)
            registry.note(BUILDING, None)
            self._sets = (self._current,)
            return
        self._sets = (old, self._current)
        earlier = (self._state.ledger.current_run(), self._state.ledger.last_complete_run())
        registry.note(BUILDING_SINCE, " ".join(run.id for run in earlier if run is not None))
        registry.note(BUILDING, self._current.index_set)
        _log.info("index_set_is_built", index_set=self._current.index_set, served=old.index_set)

    def reopen_if_swapped(self) -> bool:
        """Opens the configured set when it is another one, since a store was wiped or swapped, which its identity tells; True when it did.

        It does so too when the registry says otherwise than ``open`` did: a process of another configuration decided meanwhile, or
        rebuilt the registry. And an index of the set that is lacking is made again.

        A registry that is not open is left to whoever opens it: what it served before must not be served before it knows its documents.

        Raises:
            StoreDown: a store does not answer.
        """
        if not self._state.registry.position().epoch:
            return False
        now = self._configured()
        if now.index_set != self._current.index_set:
            _log.warning("store_was_swapped", index_set=now.index_set, before=self._current.index_set, then="everything is indexed again")
            self._current = now
        elif self._is_noted(now):
            return self._make_again_what_is_lacking()
        self.open()
        return True

    def _is_of_other_secrets(self, served: Target) -> bool:
        """Whether the configured set, if it is left over, went along with one in which secrets are allowed as they are not in it."""
        is_new = self._state.registry.noted(BUILDING) != self._current.index_set
        return is_new and served.knowledge_base.allow_secrets != self._knowledge_base.allow_secrets

    def _look_again_at_what_was_skipped(self) -> None:
        """What kept files out of the index, such as their size, may be allowed by now, though they are the same."""
        registry, index_set, after = self._state.registry, self._current.index_set, ""
        while skipped := registry.page(index_set, after=after, limit=_ENTRIES, state=DocumentState.SKIPPED):
            for document_id, entry in skipped:
                if entry.live is not None:
                    registry.mark(index_set, document_id, entry.live.generation)
            after = skipped[-1][0]

    def _make_again_what_is_lacking(self) -> bool:
        """Somebody may remove one index from a store that stays: a comparison then plans what had its chunks there."""
        if self._is_there(self._current):
            return False
        _log.warning("index_was_lacking", index_set=self._current.index_set, then="it is made again, and its documents are indexed again")
        self._current.create_indexes()
        self._state.registry.note(COMPARISON_WANTED, "yes")
        return True

    def _is_noted(self, target: Target) -> bool:
        noted = self._state.registry.noted(_specification_key(target.index_set))
        return sets_to_fill(self._state)[-1:] == [target.index_set] and noted == _text_of(target)

    def targets(self) -> Sequence[Target]:
        """Where a change goes: the served set first, then the one being built.

        Raises:
            StoreDown: another process decides, and this one cannot write what that one wants: the newest set is of another version or
                other stores, or other files belong to it by this one's configuration; or the registry does not answer.
        """
        self._follow()
        targets = self._sets
        if self._decides:
            return targets
        identities = self._identities
        writable = [one for one in targets if one.index_set == index_set_id(one.knowledge_base.pipeline_hash, identities)]
        if targets[-1] not in writable:  # what went to the old set alone would be missing, or stale, once the new one is served
            raise StoreDown(
                f"the newest index set of {self._knowledge_base.name!r} cannot be written by this process: its stores were swapped, and"
                " the process that scans opens another one; or that process is of another version, and this one must be of the same"
            )
        if self._selection not in (None, self._knowledge_base.selection_hash):
            raise StoreDown(
                f"the process that scans {self._knowledge_base.name!r} is configured with other documents or strategies than this one:"
                " start this one with the same configuration"
            )
        return writable

    def served(self) -> Target:
        """The set that queries read; the one that was served last while the registry does not answer."""
        try:
            self._follow(waits=not self._has_followed)
        except StoreDown as error:
            _log.debug("index_sets_not_read", error=str(error))
        return self._sets[0]

    def targets_there(self) -> Sequence[Target]:
        """What was served and built when the registry last answered, as far as the stores have its indexes."""
        return [target for target in self._sets if self._is_there(target)]

    def settle(self) -> bool:
        """Serves the set being built if it is complete; True when it took over now."""
        self._follow()
        sets = self._sets
        if len(sets) == 1 or not self._is_complete(*sets):
            return False
        served, building = sets
        if not self._state.registry.flip(building.index_set, BUILDING):
            return False  # another one was opened while this one was looked at
        _log.info("index_set_is_served", index_set=building.index_set, before=served.index_set)
        self._sets = (building,)
        return True

    def _is_complete(self, served: Target, building: Target) -> bool:
        run = self._state.ledger.last_complete_run()
        before = (self._state.registry.noted(BUILDING_SINCE) or "").split()
        if run is None or run.state is not RunState.COMPLETE or run.id in before:
            return False
        if sum(self._state.ledger.outstanding()):
            return False  # a document that an earlier run planned, or that is being changed, may not be in the new set yet
        states, _ = self._state.registry.counts(building.index_set)
        if states.get(DocumentState.FAILED, 0) or states.get(DocumentState.QUARANTINED, 0):
            return False
        for entries in in_batches(self._state.registry.scan(served.index_set), _ENTRIES):
            there = [document_id for document_id, entry in entries if entry.state is not DocumentState.GONE]
            if len(self._state.registry.entries(building.index_set, there)[1]) < len(there):
                return False
        return True

    def drop_others(self) -> None:
        """Removes every set that is neither served nor being built; call it a grace after the last change of sets."""
        registry = self._state.registry
        opened = (registry.noted(OPENED) or "").split()  # one that was left before anything was in it has no entries
        for index_set in dict.fromkeys((*registry.index_sets(), *opened)):
            target = self._known_target(index_set)
            # By name, since one that this version cannot read may be served or built by another; and as late as can be, since this
            # process may have been held up while one was opened again.
            if index_set in sets_to_fill(self._state):
                continue
            if target is not None:
                target.drop_indexes()
            registry.forget_index_set(index_set)
            registry.note(_specification_key(index_set), None)

    def _follow(self, *, waits: bool = True) -> None:
        """Reads what the deciding process noted, unless that is known well enough; sets that cannot be read stay as they were.

        Unless it ``waits``, it does nothing while another thread reads: a registry that is silent must not hold up every query.
        """
        if not self._lock.acquire(blocking=waits):
            return
        try:
            if self._decides or self._monotonic() - self._followed_at < FOLLOW_SECONDS:
                return
            self._followed_at = self._monotonic()
            try:
                served = self._followed(self._state.registry.position().index_set) or self._sets[0]
                newest = self._state.registry.noted(BUILDING)
                building = self._followed(newest)
                self._selection = self._noted_selection(newest or served.index_set)
                self._identities = (self.vectors.identity(), self.lexical.identity())
                self._sets = (served,) if building is None else (served, building)
                self._has_followed = True
            except StoreDown:
                self._followed_at = self._monotonic() - FOLLOW_SECONDS / 2  # after a wait that may have been long
                raise
        finally:
            self._lock.release()

    def _followed(self, index_set: str | None) -> Target | None:
        known = next((one for one in self._sets if one.index_set == index_set), None)
        return known or self._known_target(index_set)

    def _noted_selection(self, index_set: str) -> str | None:
        specification = noted_specification(self._state.registry, index_set)
        return None if specification is None else specification.selection_hash

    def _configured(self) -> Target:
        self._identities = (self.vectors.identity(), self.lexical.identity())
        return self._target(index_set_id(self._knowledge_base.pipeline_hash, self._identities), self._knowledge_base)

    def _known_target(self, index_set: str | None) -> Target | None:
        """The target of a set that was made earlier, or None when it cannot be read any more."""
        specification = noted_specification(self._state.registry, index_set) if index_set is not None else None
        if index_set is None or specification is None:
            return None
        try:
            target = self._target(index_set, specification)
        except NotAvailable as error:
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
        summarised = (strategy for strategy in knowledge_base.strategies if strategy.chat_model is not None)
        summarisers = {strategy.name: self._summariser(strategy) for strategy in summarised}
        return Target(index_set, knowledge_base, self.vectors, self.lexical, models, summarisers)

    def _summariser(self, strategy: StrategySpec) -> Summariser:
        if strategy.chat_model is None or self._chat_model_of is None:
            raise NotAvailable(f"{strategy.name}: its summaries need a chat model, and this process makes none")
        return Summariser(strategy, self._chat_model_of(strategy.chat_model), self._summary_pool, self._kept_summaries)


def _specification_key(index_set: str) -> str:
    return f"specification:{index_set}"


def _text_of(target: Target) -> str:
    return _SPECIFICATION.dump_json(target.knowledge_base).decode()


def noted_specification(registry: Registry, index_set: str) -> KnowledgeBase | None:
    """As the process that decides was configured when it opened the set; None when that cannot be read."""
    text = registry.noted(_specification_key(index_set))
    if text is None:
        return None
    try:
        return _SPECIFICATION.validate_json(json.dumps(_as_now(json.loads(text))))
    except ValueError as error:
        _log.warning("index_set_cannot_be_served", index_set=index_set, reason=str(error))
        return None


def _as_now(noted: dict[str, Any]) -> dict[str, Any]:
    """What an earlier version noted, in today's form: reranking was one stage, or none."""
    results = noted.get("results")
    if isinstance(results, dict) and not isinstance(earlier := results.get("reranking"), list):
        results["reranking"] = [] if earlier is None else [earlier]
    return noted


def note_targets(registry: Registry, targets: Sequence[Target]) -> None:
    """Writes what a lost registry must know again: how each set was configured, which is served (the first), which is being built."""
    for target in targets:
        registry.note(_specification_key(target.index_set), _text_of(target))
    registry.note(BUILDING, targets[1].index_set if len(targets) > 1 else None)
    registry.serve(targets[0].index_set)
