"""Gate: whether a provider may be called now, shared by the whole fleet."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Protocol

HOLDER_SECONDS: Final = 10.0
"""A holder that sent nothing for so long is dead, and its slots come back."""

SLOT_POLL_SECONDS: Final = 0.03
"""When to ask again while every slot is taken."""

PROBE_POLL_SECONDS: Final = 0.5
"""When to ask again, at the latest, while another request probes."""

LEARNING_STARTS_AT: Final = 3
"""Requests in flight with which a gate begins for which no ceiling is configured."""

FAILURES_WITHOUT_SUCCESS: Final = 20
"""So many transient failures in a row of one run, without one success at the provider since it began, close the gate: no bad luck."""

RUN_ENDED: Final = "cancelled"
"""The reason of an abort after which a request has not failed: nobody waits for its answer, since the run has ended."""


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
    REFUSED = "refused"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Limits:
    """What a provider is known to bear, over the whole fleet; None is learned (``requests_per_minute``, ``concurrency``) or unbounded.

    Attributes:
        concurrency: requests in flight of one knowledge base.
        requests_per_minute: of all knowledge bases together.
        tokens_per_minute: of all knowledge bases together.
    """

    concurrency: int | None = None
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """What leave is asked for.

    Attributes:
        knowledge_base: whose request it is; those that are busy at a provider share what it bears.
        run_id: of the run that it serves; "" for a query or a live change.
        tokens: as estimated, of all its texts and the answer together.
        max_run_tokens: what the run may spend here; None is unbounded.
        waits_for_nobody: it answers a query: no slot has to be free for it. Closing, the rate and the tokens bound it all the same.
    """

    knowledge_base: str
    run_id: str = ""
    tokens: int = 0
    max_run_tokens: int | None = None
    waits_for_nobody: bool = False


@dataclass(frozen=True, slots=True)
class Permit:
    """Leave for one request; ``epoch`` is the gate's, ``probe`` says that this request decides whether the gate opens.

    ``request`` is what it was given for.
    """

    slot: str
    epoch: int
    probe: bool
    request: Request


@dataclass(frozen=True, slots=True)
class Wait:
    """No leave now.

    Attributes:
        seconds: when to ask again.
        closed: the gate is closed for so long: who has something else to do leaves. False while slots, the rate or a probe are awaited.
    """

    seconds: float
    closed: bool = False


class RefusalKind(StrEnum):
    """Why a run gets no leave any more."""

    ABORTED = "aborted"
    BUDGET = "budget"


@dataclass(frozen=True, slots=True)
class Refusal:
    """No leave for this run any more: it was aborted for ``reason``, as a run's error (or ``RUN_ENDED``), or has spent what it may."""

    kind: RefusalKind
    reason: str


class GateChange(StrEnum):
    """What a report did to the gate."""

    NONE = "none"
    CLOSED = "closed"
    CLOSED_AGAIN = "closed_again"
    OPENED = "opened"


@dataclass(frozen=True, slots=True)
class Reported:
    """What a report did, for the one line that is said of it: the first closing of an outage and its end are told from the rest.

    Attributes:
        opens_in_seconds: of a closing, how long the gate stays closed.
    """

    change: GateChange
    opens_in_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class GateStatus:
    """How the gate stands.

    Attributes:
        opens_at: in seconds since 1970, while it is closed.
        failures: refusals in a row.
        may_be_tried: it is closed, and that time is over by the state's own clock: the next request finds out whether it opens.
    """

    state: GateState
    opens_at: float | None
    failures: int
    may_be_tried: bool = False


class Gate(Protocol):
    """One provider's gate. Every method is one atomic step; the state's own clock is the only clock. Any may raise ``StoreDown``."""

    def acquire(self, holder: str, request: Request, limits: Limits) -> Permit | Wait | Refusal:
        """Leave for one request, or when to ask again, or that it is no use to ask again.

        In this order: a run that was aborted is refused; a closed gate closes; once its time is over the first request probes and the
        others wait; a run that has spent its tokens is refused, or waits for requests of its own that may come cheaper; then the rate, the
        tokens of the last minute and the slots are looked at.

        Slots: ``limits.concurrency`` bounds a knowledge base over the fleet, and so does the limit that is learned, which begins with
        ``LEARNING_STARTS_AT`` where nothing is configured, climbs while throughput climbs with it, and falls by half when the provider
        refuses. Several knowledge bases that ask are given equal shares; one that asks alone has all.

        Rate: with ``requests_per_minute`` no window of a minute, and none of a second, ever sees more arrive than its share, also where
        requests are on their way for a while. Without, a rate is learned: after a refusal 0.7 of the successes of the last second, and
        more only after a minute without refusal.

        Args:
            holder: the process; its slots come back when it sends no heartbeat for 10 s.
            request: what is to be asked of the provider.
            limits: what is configured.
        """
        ...

    def report(
        self,
        permit: Permit,
        outcome: RequestOutcome,
        *,
        retry_after_seconds: float | None = None,
        reason: str = "",
        tokens: int | None = None,
    ) -> Reported:
        """Records the outcome and frees the slot. A report of another gate epoch frees its slot and changes nothing else.

        RATE_LIMITED closes the gate for ``15 s * 2^(n-1)``, at most 300 s (or ``retry_after_seconds``, same cap), plus 0-20 %, and raises
        its epoch. A probe that ends OK opens it and raises its epoch; one that ends RATE_LIMITED or FAILED closes it again; one that is
        CANCELLED or REFUSED is handed back. REFUSED aborts the request's run here, whatever the epoch. FAILED for the
        ``FAILURES_WITHOUT_SUCCESS``-th time in a row, where the provider has answered nothing well since the first of them, closes it, too,
        and aborts the run. (A failure is counted for its run; one of no run is not.)

        Args:
            permit: of the request.
            outcome: of the request.
            retry_after_seconds: what the provider asked for.
            reason: what a REFUSED or FAILED request's run is aborted for, as a run's error: ``<code>: <sentence in the provider's words>``.
            tokens: what the provider has counted; they take the place of the request's in the tokens of the minute and of the run.
        """
        ...

    def close(self, retry_after_seconds: float | None = None, *, run_id: str = "") -> Reported:
        """Closes it, as a refused request would; of no effect while it is closed.

        Args:
            retry_after_seconds: what the provider asked for.
            run_id: of a run of which nothing got through: of no effect either where none of its requests FAILED here, since another
                provider was the reason then.
        """
        ...

    def abort(self, run_id: str, reason: str) -> None:
        """Gives no leave any more to requests of this run."""
        ...

    def aborted(self, run_id: str) -> str | None:
        """Why this run was aborted here; None where it was not."""
        ...

    def heartbeat(self, holder: str) -> None:
        """Keeps the holder's slots."""
        ...

    def status(self) -> GateStatus:
        """How the gate stands."""
        ...
