"""Holders of a gate and a provider that bears so many requests a second, in simulated time."""

import heapq
import itertools
import math
import random
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from docmill.ports.gate import Gate, Limits, Permit, Request, RequestOutcome, Wait
from docmill.testing.gate_world import SteppedClock


@dataclass
class Provider:
    """Refuses what exceeds ``most`` requests within any ``window_seconds``; what it refuses does not count.

    Attributes:
        served: the moments of the requests that it served.
        refused: the moments of those that it refused.
        changes_at: the moment from which it bears ``most_after`` instead.
    """

    most: int
    window_seconds: float = 1.0
    served: list[float] = field(default_factory=list)
    refused: list[float] = field(default_factory=list)
    changes_at: float = math.inf
    most_after: int = 0
    recent: deque[float] = field(default_factory=deque)

    def answer(self, moment: float) -> RequestOutcome:
        while self.recent and self.recent[0] <= moment - self.window_seconds:
            self.recent.popleft()
        if len(self.recent) >= (self.most if moment < self.changes_at else self.most_after):
            self.refused.append(moment)
            return RequestOutcome.RATE_LIMITED
        self.recent.append(moment)
        self.served.append(moment)
        return RequestOutcome.OK


@dataclass
class Simulation:
    """Callers that always want something, each of a holder of its own.

    Attributes:
        latency: between permit and report, in seconds; the request arrives somewhere in between.
        seed: of all that is random.
    """

    gate: Gate
    clock: SteppedClock
    provider: Provider
    limits: Limits
    latency: tuple[float, float] = (0.03, 0.12)
    seed: int = 1
    knowledge_bases: tuple[str, ...] = ("handbook",) * 8
    granted: dict[str, int] = field(default_factory=dict)

    def run(self, seconds: float) -> None:
        """Lets so much time pass."""
        source, order = random.Random(self.seed), itertools.count()
        end = self.clock.now + seconds
        events: list[tuple[float, int, Callable[[], float | None]]] = []

        def start(actor: Iterator[float]) -> None:
            heapq.heappush(events, (self.clock.now + source.uniform(0, 0.03), next(order), lambda: next(actor, None)))

        for number, name in enumerate(self.knowledge_bases):
            start(self._caller(f"holder {number}", name, source))
        while events and events[0][0] < end:
            self.clock.now, _, resume = heapq.heappop(events)
            pause = resume()
            if pause is not None:
                heapq.heappush(events, (self.clock.now + pause, next(order), resume))

    def _caller(self, holder: str, knowledge_base: str, source: random.Random) -> Iterator[float]:
        """Yields the seconds until it goes on."""
        while True:
            answer = self.gate.acquire(holder, Request(knowledge_base), self.limits)
            if isinstance(answer, Wait):
                yield answer.seconds
                continue
            assert isinstance(answer, Permit)
            self.granted[knowledge_base] = self.granted.get(knowledge_base, 0) + 1
            latency = source.uniform(*self.latency)
            arrival = latency * source.uniform(0.1, 0.9)
            yield arrival
            outcome = self.provider.answer(self.clock.now)
            yield latency - arrival
            self.gate.report(answer, outcome)


def most_within(moments: list[float], seconds: float) -> int:
    """The most moments that any window of so many seconds has, its end excluded."""
    most, start = 0, 0
    for end, moment in enumerate(moments):
        while moments[start] <= moment - seconds:
            start += 1
        most = max(most, end - start + 1)
    return most
