"""Backing off: while a provider is left alone, a run plans nothing that needs it, and says until when."""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum, auto
from typing import Final

import structlog

from docmill.domain.runs import Run
from docmill.ports.gate import Gate, GateState, GateStatus
from docmill.ports.ledger import RunLedger

_log = structlog.get_logger(__name__)
#: So many documents may be on their way to find out whether a provider can be called again: one of them may need no request after all.
PROBING_DOCUMENTS: Final = 4


class Leave(Enum):
    """How much of what needs the providers of a knowledge base may be done now."""

    ALL = auto()
    FEW = auto()
    """The time of a closed gate is over: a request has to find out whether it opens."""
    NOTHING = auto()


@dataclass(frozen=True, slots=True)
class Standing:
    """How the gates of a knowledge base stand together.

    Attributes:
        opens_at: when the last of them may be tried, in seconds since 1970; None where that is not known or none is closed.
    """

    leave: Leave
    opens_at: float | None = None


def standing_of(statuses: Iterable[GateStatus]) -> Standing:
    """How gates stand together."""
    shut = [status for status in statuses if status.state is not GateState.OPEN]
    if not shut:
        return Standing(Leave.ALL)
    opens_at = max((status.opens_at for status in shut if status.opens_at is not None), default=None)
    is_closed = any(status.state is GateState.CLOSED and not status.may_be_tried for status in shut)
    return Standing(Leave.NOTHING if is_closed else Leave.FEW, opens_at)


def leave_of(gates: Iterable[Gate]) -> Leave:
    """How much may be done now of what needs the providers of ``gates``; raises ``StoreDown``."""
    return standing_of([gate.status() for gate in gates]).leave


@dataclass(slots=True)
class BackingOff:
    """Follows the gates for one run, notes in the ledger whether it backs off, and knows for how long it has.

    Attributes:
        gates: of the providers that the run's documents need; without any it never backs off.
        clock: seconds since 1970; its time is the ``retry_at`` of a run that finds another request probing, and knows no other.
        leave: as of the last look.
    """

    knowledge_base: str
    ledger: RunLedger
    gates: Mapping[str, Gate]
    clock: Callable[[], float] = time.time
    monotonic: Callable[[], float] = time.monotonic
    leave: Leave = field(default=Leave.ALL, init=False)
    _since: float | None = field(default=None, init=False)
    _earlier_seconds: float = field(default=0.0, init=False)

    @property
    def seconds(self) -> float:
        """How long the run has backed off, all in all."""
        return self._earlier_seconds + (0.0 if self._since is None else self.monotonic() - self._since)

    def look(self, run: Run) -> None:
        """Takes notice of how the gates stand.

        Args:
            run: as it stands.

        Raises:
            StoreDown: gates or ledger do not answer.
        """
        if not self.gates:
            return
        standing = standing_of([gate.status() for gate in self.gates.values()])
        self.leave = standing.leave
        if standing.leave is Leave.ALL:
            self._go_on(run)
        else:
            self._back_off(run, round(standing.opens_at or run.retry_at or self.clock(), 3))

    def _back_off(self, run: Run, retry_at: float) -> None:
        if self._since is None:
            self._since = self.monotonic()
        if run.retry_at != retry_at:
            self.ledger.back_off(run.id, retry_at)
            _log.info("run_backs_off", knowledge_base=self.knowledge_base, run=run.id, retry_at=_shown(retry_at))

    def _go_on(self, run: Run) -> None:
        self._earlier_seconds, self._since = self.seconds, None
        if run.retry_at is not None:
            self.ledger.back_off(run.id, None)
            _log.info("run_goes_on", knowledge_base=self.knowledge_base, run=run.id)


def _shown(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
