"""Index sets: which ones a knowledge base has, which one is served, and when the one being built takes over.

While two exist, every change goes to both. The pointer moves once a run that began after the building set was opened is complete and
nothing in that set failed; the old set goes after the grace.
"""

import hashlib
from collections.abc import Callable, Sequence
from typing import Final

import structlog
from pydantic import TypeAdapter, ValidationError

from docmill.domain.errors import NotAvailable
from docmill.domain.knowledge_bases import EmbeddingModelSpec, KnowledgeBase
from docmill.domain.registry import DocumentState
from docmill.domain.runs import RunState
from docmill.indexing.targets import Target
from docmill.ports.models import EmbeddingModel
from docmill.ports.state import KnowledgeBaseState
from docmill.ports.stores import LexicalStore, VectorStore

_log = structlog.get_logger(__name__)
_SPECIFICATION: Final = TypeAdapter(KnowledgeBase)
#: The note that names the set being built, for processes that have no stores.
BUILDING: Final = "building"
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
    ) -> None:
        """Nothing is made before ``open``."""
        self._state = state
        self._vectors = vectors
        self._lexical = lexical
        self._model_of = model_of
        self._current = self._target(index_set_id(knowledge_base.pipeline_hash, (vectors.identity(), lexical.identity())), knowledge_base)
        self._served = self._current
        self._opened_after_runs: frozenset[str] = frozenset()

    def open(self) -> None:
        """Makes the indexes of the configured set, and serves it when no other one is served.

        Raises:
            WrongDimension: an index is there with other dimensions.
        """
        registry = self._state.registry
        self._current.create_indexes()
        text = _SPECIFICATION.dump_json(self._current.knowledge_base).decode()
        registry.note(_specification_key(self._current.index_set), text)
        served = registry.position().index_set
        old = self._known_target(served) if served not in (None, self._current.index_set) else None
        if old is None:
            registry.serve(self._current.index_set)
            registry.note(BUILDING, None)
            return
        self._served = old
        registry.note(BUILDING, self._current.index_set)
        earlier = (self._state.ledger.current_run(), self._state.ledger.last_complete_run())
        self._opened_after_runs = frozenset(run.id for run in earlier if run is not None)
        _log.info("index_set_is_built", index_set=self._current.index_set, served=old.index_set)

    def targets(self) -> Sequence[Target]:
        """Where a change goes: the served set first, then the one being built."""
        return (self._served,) if self._served is self._current else (self._served, self._current)

    def served(self) -> Target:
        """The set that queries read."""
        return self._served

    def settle(self) -> bool:
        """Serves the set being built if it is complete; True when it took over now."""
        if self._served is self._current:
            return False
        run = self._state.ledger.last_complete_run()
        if run is None or run.state is not RunState.COMPLETE or run.id in self._opened_after_runs:
            return False
        if sum(self._state.ledger.outstanding()):
            return False  # a document that an earlier run planned, or that is being changed, may not be in the new set yet
        states, _ = self._state.registry.counts(self._current.index_set)
        if states.get(DocumentState.FAILED, 0) or states.get(DocumentState.QUARANTINED, 0):
            return False
        self._state.registry.serve(self._current.index_set)
        self._state.registry.note(BUILDING, None)
        _log.info("index_set_is_served", index_set=self._current.index_set, before=self._served.index_set)
        self._served = self._current
        return True

    def drop_others(self) -> None:
        """Removes every set that is neither served nor being built; call it a grace after the last change of sets."""
        kept = {target.index_set for target in self.targets()}
        for index_set in self._state.registry.index_sets():
            if index_set in kept:
                continue
            target = self._known_target(index_set)
            if target is not None:
                target.drop_indexes()
            self._state.registry.forget_index_set(index_set)
            self._state.registry.note(_specification_key(index_set), None)

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
        names = {target.index(strategy.name) for strategy in knowledge_base.strategies}
        if not names <= {*self._vectors.indexes(), *self._lexical.indexes()}:
            return None
        return target

    def _target(self, index_set: str, knowledge_base: KnowledgeBase) -> Target:
        models = {
            strategy.name: self._model_of(strategy.embedding) for strategy in knowledge_base.strategies if strategy.embedding is not None
        }
        return Target(index_set, knowledge_base, self._vectors, self._lexical, models)


def _specification_key(index_set: str) -> str:
    return f"specification:{index_set}"
