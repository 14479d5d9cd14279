"""Sweeping: late removal of generations that are live no more. Workers delete nothing; one sweeper does."""

from collections.abc import Callable, Mapping, Sequence

import structlog

from docmill.domain.errors import DocmillError
from docmill.domain.registry import Garbage
from docmill.indexing.targets import Target
from docmill.ports.registry import Registry
from docmill.ports.stores import ChunkStore

_log = structlog.get_logger(__name__)


def sweep(registry: Registry, targets: Sequence[Target], *, grace_seconds: float, limit: int = 500) -> int:
    """One round: deletes what has waited the grace, by id, from every store; returns how many generations it touched.

    A generation is deleted twice with a grace between, since a write that timed out may land after the first deletion.

    Raises:
        StoreDown: the registry or a store does not answer; nothing is noted as deleted that was not.
    """
    due = registry.due_garbage(grace_seconds, limit)
    if due:
        stores = _stores_by_place(targets)
        for garbage in due:
            _delete(garbage, stores)
        registry.settle_garbage(due)
    registry.forget_gone(grace_seconds, limit)
    return len(due)


def _stores_by_place(targets: Sequence[Target]) -> Mapping[tuple[str, str], tuple[ChunkStore, str]]:
    return {
        (target.index_set, strategy.name): (target.store(strategy), target.index(strategy.name))
        for target in targets
        for strategy in target.knowledge_base.strategies
    }


def _delete(garbage: Garbage, stores: Mapping[tuple[str, str], tuple[ChunkStore, str]]) -> None:
    for index_set, counts in (garbage.chunks or {}).items():
        for strategy, count in counts.items():
            place = stores.get((index_set, strategy))
            if place is not None:  # an index set that was dropped took its chunks with it
                store, index = place
                store.delete(index, garbage.document_id, garbage.generation, count)


def sweep_safely(registry: Registry, targets: Callable[[], Sequence[Target]], *, grace_seconds: float) -> int:
    """``sweep`` until nothing is due; an error is logged, and what is left is done by the next round."""
    touched = 0
    try:
        while swept := sweep(registry, targets(), grace_seconds=grace_seconds):
            touched += swept
    except DocmillError as error:
        _log.warning("sweep_interrupted", error=str(error))
    return touched
