"""A gate under test with its clock and its randomness, and the steps that the suite takes with it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from docmill.ports.gate import Gate, Permit, RequestOutcome

PROBE_LEASE_SECONDS: Final = 60.0
INSTANT_SECONDS: Final = 0.001


@dataclass
class SteppedClock:
    """Seconds since 1970 that pass only when a test says so."""

    now: float = 1_800_000_000.0

    def __call__(self) -> float:
        """The time."""
        return self.now

    def advance(self, seconds: float) -> None:
        """Lets time pass."""
        self.now += seconds


@dataclass
class Jitter:
    """The random share that is added to waits, set by hand."""

    value: float = 0.0

    def __call__(self) -> float:
        """The share, from 0 to 1."""
        return self.value


@dataclass
class GateWorld:
    """A gate that was just made, and what surrounds it.

    Attributes:
        gate: keeps its probes for ``PROBE_LEASE_SECONDS``.
        clock: the gate's clock.
        jitter: the gate's source of randomness.
        flush: makes the gate's state forget everything.
    """

    gate: Gate
    flush: Callable[[], object]
    clock: SteppedClock = field(default_factory=SteppedClock)
    jitter: Jitter = field(default_factory=Jitter)

    def permit(self, holder: str = "a", ceiling: int = 10) -> Permit:
        """A permit, where one must be granted."""
        answer = self.gate.acquire(holder, ceiling)
        assert isinstance(answer, Permit), f"expected a permit, was told to wait {answer} s"
        return answer

    def wait(self, holder: str = "a", ceiling: int = 10) -> float:
        """The seconds to wait, where no permit may be granted."""
        answer = self.gate.acquire(holder, ceiling)
        assert isinstance(answer, float), f"expected to wait, was granted {answer}"
        assert answer > 0
        return answer

    def close(self, retry_after_seconds: float | None = None) -> float:
        """Has a request refused, and returns the wait after it."""
        self.gate.report(self.permit(), RequestOutcome.RATE_LIMITED, retry_after_seconds)
        return self.wait()

    def close_and_end_window(self) -> None:
        """Has a request refused, and lets the wait pass: the next request is the probe."""
        self.clock.advance(self.close() + INSTANT_SECONDS)

    def open_again(self) -> None:
        """Has a probe succeed."""
        self.gate.report(self.permit(), RequestOutcome.OK)
