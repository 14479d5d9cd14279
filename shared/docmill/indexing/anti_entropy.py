"""Anti-entropy: compares the stores with the registry, removes what nobody knows, and plans again what is not whole."""

from array import array
from collections.abc import Callable
from dataclasses import dataclass

from docmill.domain.registry import DocumentState, Lane, TaskMessage
from docmill.indexing.batches import PLANNED_AT_ONCE, contains, in_batches
from docmill.indexing.targets import Target
from docmill.ports.state import KnowledgeBaseState
from docmill.ports.stores import ChunkStore

_BATCH = 500


@dataclass(frozen=True, slots=True)
class Repair:
    """What one pass found and did.

    Attributes:
        removed: generations of which nobody knew.
        planned_again: documents that are not whole.
        messages: for the first of them, for the caller to send.
    """

    removed: int
    planned_again: tuple[str, ...]
    messages: tuple[TaskMessage, ...]


def reconcile_stores(state: KnowledgeBaseState, target: Target, pause: Callable[[], None] = lambda: None) -> Repair:
    """One pass over every index of ``target``; holds 8 bytes for each whole generation.

    Args:
        state: of the knowledge base.
        target: whose indexes are compared.
        pause: called between batches, so that a pass never crowds out the work.

    Raises:
        StoreDown: something does not answer; the next pass begins anew.
    """
    removed = 0
    broken: set[str] = set()
    for strategy in target.knowledge_base.strategies:
        store, index = target.store(strategy), target.index(strategy.name)
        store.refresh(index)
        whole: array[int] = array("Q")
        for found in in_batches(store.generations(index), _BATCH):
            unknown = state.registry.unknown_generations(
                target.index_set, [(generation.document_id, generation.generation) for generation in found]
            )
            for document_id, generation in unknown:
                store.delete_generation(index, document_id, generation)
            removed += len(unknown)
            whole.extend(generation.generation for generation in found if generation.whole)
            pause()
        broken |= _not_whole(state, target, strategy.name, store, array("Q", sorted(whole)), pause)
    planned = sorted(broken)
    messages = state.ledger.enqueue(planned[:PLANNED_AT_ONCE], Lane.BULK) if planned else []
    if len(planned) > PLANNED_AT_ONCE:
        state.ledger.start_run()  # all of them are marked, so that its scan plans the others
    return Repair(removed, tuple(planned), tuple(messages))


def _not_whole(
    state: KnowledgeBaseState, target: Target, strategy: str, store: ChunkStore, whole: "array[int]", pause: Callable[[], None]
) -> set[str]:
    broken: set[str] = set()
    index = target.index(strategy)
    for entries in in_batches(state.registry.scan(target.index_set), _BATCH):
        for document_id, entry in entries:
            if entry.live is None or entry.state is DocumentState.GONE:
                continue
            expected = entry.live.chunks.get(strategy, 0)
            if not expected or contains(whole, entry.live.generation):
                continue
            # The pass may have read the store before this generation was written: look again before calling it broken.
            if len(store.chunks_of(index, document_id, entry.live.generation)) != expected:
                state.registry.mark(target.index_set, document_id, entry.live.generation)
                broken.add(document_id)
        pause()
    return broken
