"""Runs: one pass over a knowledge base, its states and its counters."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


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
        counters: found (how many files the scan will see, where it had to wait), seen, unchanged, planned, indexed, empty, removed,
            chunks, embedded, reused, tokens, and by reason ``skipped.<reason>`` and ``failed.<reason>``; absent ones are 0.
        started_at: seconds since 1970, by Redis's clock.
        pending: tickets of the run that have not ended.
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
