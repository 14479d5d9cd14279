"""Reopening: takes up a state whose server was restarted or replaced, so that what was done last in it may be lost.

The new epoch is above every one that the stores know, and they know it before anything is minted in it: the one that the state itself
remembers may be older than the last one that was used. What had been committed and is lost is found by the full scan that follows, and what
it left in the stores by the next comparison of stores and registry.
"""

from collections.abc import Sequence
from typing import Final

import structlog

from docmill.domain.registry import Lane
from docmill.indexing.epochs import next_epoch
from docmill.ports.queue import TaskQueue
from docmill.ports.state import KnowledgeBaseState
from docmill.ports.stores import ChunkStore

_log = structlog.get_logger(__name__)
_MESSAGES_AT_ONCE: Final = 500


def reopen_if_set_back(state: KnowledgeBaseState, stores: Sequence[ChunkStore], tasks: TaskQueue, knowledge_base: str) -> bool:
    """Opens a state that was set back in a new epoch, and asks for a full scan; True when it did.

    What was in work is sent again; no document is suspected for it. Of several processes that call this one does the work.

    Args:
        state: of the knowledge base.
        stores: all that its index sets are in.
        tasks: takes what was in work.
        knowledge_base: its name.

    Raises:
        StoreDown: the registry or a store does not answer; the next call goes on.
    """
    position = state.registry.position()
    if not position.set_back:
        return False
    epoch = state.registry.reopen(next_epoch(stores, position.epoch))
    if epoch is None:
        return False
    _log.warning("registry_was_set_back", knowledge_base=knowledge_base, epoch=epoch, then="everything is scanned again")
    state.ledger.start_run()
    while messages := state.ledger.resend_expired(_MESSAGES_AT_ONCE, suspects=False):
        tasks.send(messages, Lane.BULK)
    return True
