"""The gate in memory: the same rules as on Redis, for one process."""

import random
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from docmill.domain.backoff import backoff_seconds
from docmill.ports.gate import (
    HOLDER_SECONDS,
    PROBE_POLL_SECONDS,
    SLOT_POLL_SECONDS,
    GateState,
    GateStatus,
    Permit,
    RequestOutcome,
)


@dataclass(slots=True)
class _State:
    epoch: int | None = None
    opens_at: float | None = None
    failures: int = 0
    probe: str | None = None
    probe_until: float = 0.0
    limit: int | None = None
    slots: dict[str, str] = field(default_factory=dict)
    holders: dict[str, float] = field(default_factory=dict)


class MemoryGate:
    """A provider's gate that the threads of one process share."""

    def __init__(
        self, *, probe_lease_seconds: float = 60.0, clock: Callable[[], float] = time.time, jitter: Callable[[], float] = random.random
    ) -> None:
        """An open gate.

        Args:
            probe_lease_seconds: as long as a request to the provider may take.
            clock: seconds since 1970.
            jitter: from 0 to 1, random.
        """
        self._probe_lease_seconds = probe_lease_seconds
        self._clock = clock
        self._jitter = jitter
        self._lock = threading.Lock()
        self._state = _State()

    def flush(self) -> None:
        """Forgets everything, as a Redis that was flushed does."""
        with self._lock:
            self._state = _State()

    def acquire(self, holder: str, ceiling: int) -> Permit | float:
        """See :class:`docmill.ports.gate.Gate`."""
        if ceiling < 1:
            raise ValueError(f"a ceiling of {ceiling} requests would never let one through")
        with self._lock:
            state, now = self._state, self._clock()
            state.holders[holder] = now
            self._free_slots_of_the_dead(now)
            if state.epoch is None:
                state.epoch = int(now * 1_000_000)
            if state.opens_at is None:
                limit = ceiling if state.limit is None else min(ceiling, state.limit)
                return SLOT_POLL_SECONDS if len(state.slots) >= limit else self._take_slot(holder, state.epoch, probe=False)
            if now < state.opens_at:
                return state.opens_at - now
            if state.probe is not None and now < state.probe_until:
                return min(state.probe_until - now, PROBE_POLL_SECONDS)
            if len(state.slots) >= ceiling:
                return SLOT_POLL_SECONDS
            permit = self._take_slot(holder, state.epoch, probe=True)
            state.probe, state.probe_until = permit.slot, now + self._probe_lease_seconds
            return permit

    def report(self, permit: Permit, outcome: RequestOutcome, retry_after_seconds: float | None = None) -> None:
        """See :class:`docmill.ports.gate.Gate`."""
        jitter = self._jitter()
        with self._lock:
            state = self._state
            taken, closed = len(state.slots), state.opens_at is not None
            freed = state.slots.pop(permit.slot, None) is not None
            was_probe = state.probe == permit.slot
            if was_probe:
                state.probe = None
            if state.epoch != permit.epoch or (closed and not was_probe):
                return
            if outcome is RequestOutcome.RATE_LIMITED or (outcome is RequestOutcome.FAILED and closed):
                state.failures += 1
                state.limit = None
                state.opens_at = self._clock() + backoff_seconds(state.failures, retry_after_seconds, jitter)
                state.epoch += 1
            elif outcome is RequestOutcome.OK and closed:
                state.failures, state.opens_at, state.limit = 0, None, 1
                state.epoch += 1
            elif outcome is RequestOutcome.OK and freed and state.limit is not None and taken >= state.limit:
                state.limit += 1  # only what was used is known to be bearable

    def heartbeat(self, holder: str) -> None:
        """See :class:`docmill.ports.gate.Gate`."""
        with self._lock:
            self._state.holders[holder] = self._clock()

    def status(self) -> GateStatus:
        """See :class:`docmill.ports.gate.Gate`."""
        with self._lock:
            state = self._state
            if state.opens_at is None:
                return GateStatus(GateState.OPEN, None, state.failures)
            if state.probe is not None and self._clock() < state.probe_until:
                return GateStatus(GateState.PROBING, None, state.failures)
            return GateStatus(GateState.CLOSED, state.opens_at, state.failures)

    def _take_slot(self, holder: str, epoch: int, *, probe: bool) -> Permit:
        slot = secrets.token_hex(8)
        self._state.slots[slot] = holder
        return Permit(slot=slot, epoch=epoch, probe=probe)

    def _free_slots_of_the_dead(self, now: float) -> None:
        state = self._state
        state.holders = {holder: seen for holder, seen in state.holders.items() if seen > now - HOLDER_SECONDS}
        state.slots = {slot: holder for slot, holder in state.slots.items() if holder in state.holders}
