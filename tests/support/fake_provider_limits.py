"""The rate limit of a fake provider: so many requests or tokens in any window of time, and so many requests at once."""

from collections import deque
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class RateLimit:
    """What a provider bears of one key; None is unbounded.

    Attributes:
        requests_per_second: in any second.
        requests_per_minute: in any minute.
        tokens_per_minute: in any minute.
        at_once: requests in flight.
        counts_refused: whether a refused request counts, too.
        header: that says with a 429 when there is room again: ``Retry-After``, ``retry-after-ms`` or ``x-ratelimit-reset-requests``.
    """

    requests_per_second: int | None = None
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    at_once: int | None = None
    counts_refused: bool = False
    header: str | None = None

    def as_json(self) -> dict[str, Any]:
        """What goes to the provider."""
        return asdict(self)

    def headers(self, seconds: float) -> Mapping[str, str]:
        """What is said with a 429 after which there is room in ``seconds``."""
        match self.header:
            case None:
                return {}
            case "retry-after-ms":
                return {self.header: f"{seconds * 1000:.0f}"}
            case "Retry-After":
                return {self.header: f"{seconds:.3f}"}
            case _:
                return {self.header: f"{seconds:.3f}s", "x-ratelimit-remaining-requests": "0"}


class Window:
    """What came within the last ``seconds``; times in seconds of one clock."""

    def __init__(self, most: int, seconds: float) -> None:
        """Empty."""
        self._most = most
        self._seconds = seconds
        self._came: deque[tuple[float, int]] = deque()
        self._sum = 0

    def wait(self, amount: int, now: float) -> float:
        """Seconds until ``amount`` more has room; 0 where it has."""
        while self._came and self._came[0][0] <= now - self._seconds:
            self._sum -= self._came.popleft()[1]
        too_much = self._sum + amount - self._most
        if too_much <= 0:
            return 0.0
        for at, gone in self._came:
            too_much -= gone
            if too_much <= 0:
                return at + self._seconds - now
        return self._seconds

    def add(self, amount: int, now: float) -> None:
        """Notes that it came."""
        self._came.append((now, amount))
        self._sum += amount


class Limiter:
    """One key's use of a limit."""

    def __init__(self, limit: RateLimit) -> None:
        """Nothing is used."""
        self._limit = limit
        self._requests = [
            Window(most, seconds)
            for most, seconds in ((limit.requests_per_second, 1.0), (limit.requests_per_minute, 60.0))
            if most is not None
        ]
        self._tokens = None if limit.tokens_per_minute is None else Window(limit.tokens_per_minute, 60.0)

    def wait(self, tokens: int, in_flight: int, now: float) -> float | None:
        """None for a request that may come, which is then counted; otherwise in how many seconds one may."""
        limit = self._limit
        waits = [window.wait(1, now) for window in self._requests]
        if self._tokens is not None:
            waits.append(self._tokens.wait(tokens, now))
        if limit.at_once is not None and in_flight > limit.at_once:
            waits.append(1.0)
        longest = max(waits, default=0.0)
        if longest <= 0 or limit.counts_refused:
            for window in self._requests:
                window.add(1, now)
            if self._tokens is not None:
                self._tokens.add(tokens, now)
        return None if longest <= 0 else longest
