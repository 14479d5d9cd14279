"""Gate: whether a provider may be called now, shared by the whole fleet."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Protocol

HOLDER_SECONDS: Final = 10.0
"""A holder that sent nothing for so long is dead, and its slots come back."""

SLOT_POLL_SECONDS: Final = 0.1
"""When to ask again while every slot is taken."""

PROBE_POLL_SECONDS: Final = 0.5
"""When to ask again, at the latest, while another request probes."""


class GateState(StrEnum):
    """Open, closed until a moment, or probing with one request."""

    OPEN = "open"
    CLOSED = "closed"
    PROBING = "probing"


class RequestOutcome(StrEnum):
    """What a request came to, as far as the gate is concerned."""

    OK = "ok"
    RATE_LIMITED = "rate_limited"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Permit:
    """Leave for one request; ``epoch`` is the gate's, ``probe`` says that this request decides whether the gate opens."""

    slot: str
    epoch: int
    probe: bool


@dataclass(frozen=True, slots=True)
class GateStatus:
    """The gate as people see it; ``opens_at`` in seconds since 1970 while it is closed."""

    state: GateState
    opens_at: float | None
    failures: int


class Gate(Protocol):
    """One provider's gate. Every method is one atomic step; the state's own clock is the only clock."""

    def acquire(self, holder: str, ceiling: int) -> Permit | float:
        """A permit, or the seconds to wait before asking again.

        Args:
            holder: the process; its slots come back when it sends no heartbeat for 10 s.
            ceiling: requests in flight over the fleet.
        """
        ...

    def report(self, permit: Permit, outcome: RequestOutcome, retry_after_seconds: float | None = None) -> None:
        """Records the outcome and frees the slot. A report of another gate epoch frees its slot and changes nothing else.

        RATE_LIMITED closes the gate for ``15 s * 2^(n-1)``, at most 300 s (or ``retry_after_seconds``, same cap), plus 0-20 %, and raises
        its epoch. A probe that ends OK opens it and raises its epoch; one that ends RATE_LIMITED or FAILED closes it again; one that is
        CANCELLED is handed back.
        """
        ...

    def heartbeat(self, holder: str) -> None:
        """Keeps the holder's slots."""
        ...

    def status(self) -> GateStatus:
        """How the gate stands."""
        ...
