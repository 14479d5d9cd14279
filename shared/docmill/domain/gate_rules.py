"""What a provider's gate learns from its answers, and what follows from what is configured: rules without a clock and without a state.

The scripts of the gate on Redis do the same arithmetic in Lua; a test compares the two.
"""

import math
from dataclasses import dataclass, replace
from typing import Final

MINUTE_SECONDS: Final = 60.0
SECOND_SECONDS: Final = 1.0
LONGEST_IN_SECOND: Final = 1.5
"""A request counts in the second until one second after its answer, but no longer than so many seconds after its permit."""
SPACED_BELOW: Final = 600
"""Below so many a minute, what a second has too little of for a whole number is kept by a pause between requests."""

HIGHEST_LIMIT: Final = 64
STRETCH_SECONDS: Final = 1.0
"""Throughput is measured over so long at least, and over two answers for each request in flight."""
GAIN: Final = 1.05
"""A higher limit is kept where throughput is so many times what it was."""
TRY_AGAIN_SECONDS: Final = 30.0

RATE_SHARE: Final = 0.7
LEAST_RATE: Final = 0.2
RATE_GROWTH: Final = 1.1
QUIET_SECONDS: Final = 60.0
FEW_SUCCESSES: Final = 5
LONG_MEASURE_SECONDS: Final = 5.0
FORGET_RATE_SECONDS: Final = 600.0
"""A learned rate is forgotten when for so long requests waited for slots, with no long break, and none for the rate."""

BUSY_SECONDS: Final = 2.0
"""A knowledge base that asked within so long has its share of the slots."""
PATIENCE_SECONDS: Final = 0.2
"""A knowledge base that does not ask again at the moment it was told to keeps its turn for so long."""
CEILING_SECONDS: Final = 60.0
"""The ceilings with which was asked within so long count for the gate's own limit."""
DEMAND_GAP_SECONDS: Final = 1.0
"""Slots are wanted without a break while a request that has to wait for one asks again so long after it was told to, at the latest."""
UNHINDERED_GAP_SECONDS: Final = 60.0
FORGET_ASKER_SECONDS: Final = 3600.0
LONGEST_TOKEN_WAIT_SECONDS: Final = 1.0
"""When to ask again at the latest while tokens are awaited, by a knowledge base that keeps its turn meanwhile."""


@dataclass(frozen=True, slots=True)
class Climb:
    """How many requests may be in flight, and the search for more.

    Attributes:
        limit: requests in flight; 0 before anything was learned.
        half: up to here it climbs by one with each success; 0 while the provider has refused nothing.
        began: since when throughput is measured, in seconds since 1970.
        answers: since then.
        from_limit: the limit that is compared with; 0 while none is.
        from_rate: its throughput, answers per second.
        next_try: not before this moment is a higher limit tried.
    """

    limit: int = 0
    half: int = 0
    began: float = 0.0
    answers: int = 0
    from_limit: int = 0
    from_rate: float = 0.0
    next_try: float = 0.0

    def bounded(self, starts_at: int, top: int) -> int:
        """The limit that holds where it is to begin with ``starts_at`` and may not exceed ``top``."""
        return min(top, self.limit if self.half else max(self.limit, starts_at))


def after_success(climb: Climb, now: float, top: int, *, full: bool, wanted_since: float | None) -> Climb:
    """What a success teaches: more is tried while throughput grows with it.

    Args:
        climb: with the limit that holds.
        now: seconds since 1970.
        top: the highest limit that is allowed.
        full: as many requests as the limit allows were in flight.
        wanted_since: since when requests have waited for slots without a break; None where none waits.
    """
    if climb.limit < min(climb.half, top):
        return replace(climb, limit=climb.limit + 1) if full else climb
    if now < climb.next_try or (climb.limit >= top and not climb.from_limit):
        return climb
    if wanted_since is None or climb.began < wanted_since:
        return replace(climb, began=now, answers=0)
    answers, seconds = climb.answers + 1, now - climb.began
    if seconds < STRETCH_SECONDS or answers < 2 * climb.limit:
        return replace(climb, answers=answers)
    rate = answers / seconds
    if climb.from_limit and rate < GAIN * climb.from_rate:
        return Climb(climb.from_limit, climb.half, next_try=now + TRY_AGAIN_SECONDS)
    if climb.limit >= top:
        return Climb(climb.limit, climb.half)
    higher = min(top, climb.limit + max(1, climb.limit // 4))
    return Climb(higher, climb.half, began=now, from_limit=climb.limit, from_rate=rate)


def after_closing(climb: Climb) -> Climb:
    """The limit is kept for what is still in flight, and half of it remembered for the time after the opening."""
    return Climb(climb.limit, half=max(1, climb.limit // 2))


def after_opening(climb: Climb) -> Climb:
    """One request at a time, to begin with."""
    return Climb(1, climb.half)


def rate_after_refusal(last_second: int, last_seconds: int, former: float | None) -> float | None:
    """The requests per second that are tried after a refusal; None where nothing is known.

    Args:
        last_second: successes of the last second. Where they are few, one second is too short to count them in.
        last_seconds: successes of the last ``LONG_MEASURE_SECONDS``.
        former: the rate that had been learned before.
    """
    measured = float(last_second)
    if last_second < FEW_SUCCESSES:
        measured = max(measured, last_seconds / LONG_MEASURE_SECONDS)
    if not measured:
        return None if former is None else max(LEAST_RATE, RATE_SHARE * former)
    return max(LEAST_RATE, RATE_SHARE * measured)


def requests_in_a_second(requests_per_minute: int) -> int:
    """How many may come within one second."""
    if spacing_seconds(requests_per_minute):
        return math.ceil(requests_per_minute / MINUTE_SECONDS)
    return int(requests_per_minute // MINUTE_SECONDS)


def spacing_seconds(requests_per_minute: int) -> float:
    """What has to pass between two requests; 0 where the count of a second is enough."""
    is_spaced = requests_per_minute < SPACED_BELOW and requests_per_minute % MINUTE_SECONDS
    return MINUTE_SECONDS / requests_per_minute if is_spaced else 0.0


def share_of(limit: int, busy: int) -> int:
    """The slots of each of ``busy`` knowledge bases."""
    return math.ceil(limit / max(1, busy))


def budget_reason(spent: int, tokens: int, most: int) -> str:
    """Why a run that has a budget gets no leave any more."""
    return f"The run has spent {spent} of the {most} tokens that it may, and the next request has {tokens}."


def check_limits(concurrency: int | None, requests_per_minute: int | None, tokens_per_minute: int | None) -> None:
    """Raises ``ValueError`` for a limit that would never let a request through."""
    named = {"concurrency": concurrency, "requests_per_minute": requests_per_minute, "tokens_per_minute": tokens_per_minute}
    for name, limit in named.items():
        if limit is not None and limit < 1:
            raise ValueError(f"{name}: a ceiling of {limit} would never let a request through")


def check_run(run_id: str) -> None:
    """Raises ``ValueError`` for the run of a query or a live change, which is none."""
    if not run_id:
        raise ValueError("what serves no run cannot be aborted")
