"""A gate under test with its clock and its randomness, and the steps that the suite takes with it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypedDict, Unpack

from docmill.ports.gate import Gate, Limits, Permit, Refusal, Request, RequestOutcome, Wait

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


class Asked(TypedDict, total=False):
    """What a request is for, and what is configured; see :meth:`GateWorld.ask`."""

    ceiling: int | None
    kb: str
    run: str
    tokens: int
    budget: int | None
    is_query: bool
    per_minute: int | None
    tokens_per_minute: int | None


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

    def ask(
        self,
        holder: str = "a",
        *,
        ceiling: int | None = 10,
        kb: str = "handbook",
        run: str = "",
        tokens: int = 0,
        budget: int | None = None,
        is_query: bool = False,
        per_minute: int | None = None,
        tokens_per_minute: int | None = None,
    ) -> Permit | Wait | Refusal:
        """What the gate answers to a request with these properties and limits."""
        request = Request(kb, run, tokens, budget, waits_for_nobody=is_query)
        return self.gate.acquire(holder, request, Limits(ceiling, per_minute, tokens_per_minute))

    def permit(self, holder: str = "a", **asked: Unpack[Asked]) -> Permit:
        """A permit, where one must be granted."""
        answer = self.ask(holder, **asked)
        assert isinstance(answer, Permit), f"expected a permit, was told {answer}"
        return answer

    def wait(self, holder: str = "a", **asked: Unpack[Asked]) -> float:
        """The seconds to wait, where no permit may be granted."""
        answer = self.ask(holder, **asked)
        assert isinstance(answer, Wait), f"expected to wait, was told {answer}"
        assert answer.seconds > 0
        return answer.seconds

    def refusal(self, holder: str = "a", **asked: Unpack[Asked]) -> Refusal:
        """The refusal, where the run may get no permit any more."""
        answer = self.ask(holder, **asked)
        assert isinstance(answer, Refusal), f"expected a refusal, was told {answer}"
        return answer

    def permits(self, **asked: Unpack[Asked]) -> list[Permit]:
        """As many permits as are granted at once."""
        granted: list[Permit] = []
        while isinstance(answer := self.ask(**asked), Permit):
            granted.append(answer)
        return granted

    def succeed(self, **asked: Unpack[Asked]) -> None:
        """Has a request end well."""
        self.gate.report(self.permit(**asked), RequestOutcome.OK)

    def close(self, retry_after_seconds: float | None = None) -> float:
        """Has a request refused, and returns the wait after it."""
        self.gate.report(self.permit(), RequestOutcome.RATE_LIMITED, retry_after_seconds=retry_after_seconds)
        return self.wait()

    def close_and_end_window(self) -> None:
        """Has a request refused, and lets the wait pass: the next request is the probe."""
        self.clock.advance(self.close() + INSTANT_SECONDS)

    def open_again(self) -> None:
        """Has a probe succeed."""
        self.gate.report(self.permit(), RequestOutcome.OK)
