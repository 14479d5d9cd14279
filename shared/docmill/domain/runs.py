"""Runs: one pass over a knowledge base, its states and its counters."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

#: The counter of documents that are missing and kept, since so many are missing at once.
REMOVALS_HELD: Final = "removals_held"


class RunState(StrEnum):
    """``scanning -> indexing -> complete | complete_with_errors | backing_off | failed | timed_out | cancelled``."""

    SCANNING = "scanning"
    INDEXING = "indexing"
    BACKING_OFF = "backing_off"
    COMPLETE = "complete"
    COMPLETE_WITH_ERRORS = "complete_with_errors"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"

    @property
    def final(self) -> bool:
        """Whether the run has ended."""
        return self not in (RunState.SCANNING, RunState.INDEXING, RunState.BACKING_OFF)


@dataclass(frozen=True, slots=True)
class Run:
    """One run.

    Attributes:
        id: told from those of all other knowledge bases: a provider's gate knows the runs of several.
        counters: found (how many files the scan will see, where it had to wait), seen, unchanged, planned, indexed, empty, removed,
            removals_held, chunks, embedded, reused, tokens, and by reason ``skipped.<reason>`` and ``failed.<reason>``; absent ones are 0.
        started_at: seconds since 1970, by Redis's clock.
        pending: tickets of the run that have not ended.
        retry_at: until when it leaves a provider alone, in seconds since 1970, while it is BACKING_OFF.
        error: what ended it, for a failed run.
    """

    id: str
    state: RunState
    started_at: float
    finished_at: float | None = None
    retry_at: float | None = None
    counters: Mapping[str, int] = field(default_factory=dict)
    pending: int = 0
    error: str = ""


def tag_of(knowledge_base: str) -> str:
    """What tells the ids of a knowledge base's runs from those of another one's."""
    return hashlib.blake2b(knowledge_base.encode(), digest_size=4).hexdigest()
