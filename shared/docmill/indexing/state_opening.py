"""Opening a state that is new, was lost or was set back: at once, or by a rebuild when the stores know more than it does."""

from typing import Final

from docmill.indexing.epochs import next_epoch
from docmill.indexing.index_sets import IndexSets
from docmill.indexing.rebuilding import Rebuild
from docmill.indexing.reopening import reopen_if_set_back
from docmill.indexing.sources import Source
from docmill.ports.clock import Clock
from docmill.ports.queue import TaskQueue
from docmill.ports.registry import REBUILD_ROLE
from docmill.ports.state import KnowledgeBaseState

_FIRST_OPENING_SECONDS: Final = 30.0


def open_state(
    state: KnowledgeBaseState,
    index_sets: IndexSets,
    source: Source,
    tasks: TaskQueue,
    clock: Clock,
    *,
    holder: str,
    grace_seconds: float,
) -> bool:
    """Opens the state unless it is open; True when it did.

    Args:
        state: of the knowledge base, on a server that other processes use too.
        index_sets: what is known of its index sets: those of before the loss, or the one that is configured.
        source: its documents.
        tasks: takes what must be indexed first.
        clock: for the grace.
        holder: names this process.
        grace_seconds: how long a write that a store has taken, but not shown, may be on its way.

    Raises:
        StoreDown: the registry or a store does not answer; the next call goes on.
        Superseded: another process took over.
    """
    stores = (index_sets.vectors, index_sets.lexical)
    position = state.registry.position()
    if position.set_back:
        return reopen_if_set_back(state, stores, tasks, index_sets.served().knowledge_base.name)
    if position.epoch:
        return False
    targets = index_sets.targets_there()
    if targets:
        return Rebuild(state, targets, source, tasks, clock, holder, grace_seconds).carry_out() is not None
    token = state.leases.acquire_role(REBUILD_ROLE, holder, _FIRST_OPENING_SECONDS)
    if token is None:
        return False
    try:
        if state.registry.position().epoch:
            return False
        state.registry.raise_epoch(next_epoch(stores))
    finally:
        state.leases.release_role(REBUILD_ROLE, token)
    return True
