"""Planning: which of the files that were seen need work; pure."""

from collections.abc import Iterable

from docmill.domain.documents import StatSignature
from docmill.domain.knowledge_bases import KnowledgeBase


def needs_work(stat: StatSignature, known: Iterable[str | None]) -> bool:
    """Whether a file must be read.

    Args:
        stat: as the scan saw it.
        known: its packed signature in each index set; None where it is unknown or failed, "" where it must be read again.
    """
    packed = stat.packed()
    return any(signature != packed for signature in known)


def share_of_window(window: int, outstanding: int, busy_knowledge_bases: int) -> int:
    """How many more documents a knowledge base may have outstanding now."""
    return max(0, window // max(1, busy_knowledge_bases) - outstanding)


def most_outstanding(knowledge_base: KnowledgeBase) -> int | None:
    """How many of its documents may be outstanding at all; None where its configuration does not say."""
    bounds = (strategy.max_indexing_concurrency for strategy in knowledge_base.strategies)
    return min((bound for bound in bounds if bound is not None), default=None)
