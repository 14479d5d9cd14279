"""The gate in memory: the same rules as on Redis, for one process."""

import random
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import replace

from docmill.adapters.memory.gate_state import GateData, Slot
from docmill.domain import gate_rules as rules
from docmill.domain.backoff import backoff_seconds
from docmill.ports.gate import (
    FAILURES_WITHOUT_SUCCESS,
    PROBE_POLL_SECONDS,
    SLOT_POLL_SECONDS,
    GateChange,
    GateState,
    GateStatus,
    Limits,
    Permit,
    Refusal,
    RefusalKind,
    Reported,
    Request,
    RequestOutcome,
    Wait,
)

_UNCHANGED = Reported(GateChange.NONE)
_NOT_SPENT = (RequestOutcome.CANCELLED, RequestOutcome.FAILED, RequestOutcome.RATE_LIMITED)


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
        self._data = GateData()

    def flush(self) -> None:
        """Forgets everything, as a Redis that was flushed does."""
        with self._lock:
            self._data = GateData()

    def acquire(self, holder: str, request: Request, limits: Limits) -> Permit | Wait | Refusal:
        """See :class:`docmill.ports.gate.Gate`."""
        rules.check_limits(limits.concurrency, limits.requests_per_minute, limits.tokens_per_minute)
        with self._lock:
            data, now = self._data, self._clock()
            data.holders[holder] = now
            data.free_slots_of_the_dead(now)
            self._begin_epoch(now)
            answer = self._refusal_of_aborted(request) or self._wait_while_closed(now) or self._refusal_of_spent(request)
            answer = answer or self._wait_for_rate(request, limits, now) or self._wait_for_slot(request, limits, now)
            return answer or self._grant(holder, request, now)

    def report(
        self,
        permit: Permit,
        outcome: RequestOutcome,
        *,
        retry_after_seconds: float | None = None,
        reason: str = "",
        tokens: int | None = None,
    ) -> Reported:
        """See :class:`docmill.ports.gate.Gate`."""
        with self._lock:
            data, now = self._data, self._clock()
            full, closed = len(data.slots) >= data.limit(), data.opens_at is not None
            was_probe = data.probe == permit.slot
            freed = self._free(permit.slot, outcome, tokens, now)
            run_id = permit.request.run_id
            if outcome is RequestOutcome.REFUSED and run_id:
                self._abort(run_id, reason)
            if data.epoch != permit.epoch or (closed and not was_probe):
                return _UNCHANGED
            if outcome is RequestOutcome.OK and freed:
                data.count_success(now)
            too_many = outcome is RequestOutcome.FAILED and freed and bool(run_id) and self._fails_too_often(run_id, reason)
            if outcome is RequestOutcome.RATE_LIMITED and not closed:
                data.learn_rate(now)
            if outcome is RequestOutcome.RATE_LIMITED or (outcome is RequestOutcome.FAILED and closed) or too_many:
                return self._close(retry_after_seconds, now)
            if outcome is RequestOutcome.OK and closed:
                return self._open(now)
            if outcome is RequestOutcome.OK and freed:
                self._climb(now, full=full)
            return _UNCHANGED

    def close(self, retry_after_seconds: float | None = None, *, run_id: str = "") -> Reported:
        """See :class:`docmill.ports.gate.Gate`."""
        with self._lock:
            is_to_blame = not run_id or (run_id in self._data.runs and self._data.runs[run_id].failures > 0)
            return self._close(retry_after_seconds, self._clock()) if is_to_blame and self._data.opens_at is None else _UNCHANGED

    def abort(self, run_id: str, reason: str) -> None:
        """See :class:`docmill.ports.gate.Gate`."""
        rules.check_run(run_id)
        with self._lock:
            self._abort(run_id, reason)

    def aborted(self, run_id: str) -> str | None:
        """See :class:`docmill.ports.gate.Gate`."""
        with self._lock:
            return self._data.runs[run_id].aborted if run_id in self._data.runs else None

    def heartbeat(self, holder: str) -> None:
        """See :class:`docmill.ports.gate.Gate`."""
        with self._lock:
            self._data.holders[holder] = self._clock()

    def status(self) -> GateStatus:
        """See :class:`docmill.ports.gate.Gate`."""
        with self._lock:
            data, now = self._data, self._clock()
            if data.opens_at is None:
                return GateStatus(GateState.OPEN, None, data.failures)
            if data.probe is not None and now < data.probe_until:
                return GateStatus(GateState.PROBING, None, data.failures)
            return GateStatus(GateState.CLOSED, data.opens_at, data.failures, may_be_tried=now >= data.opens_at)

    def _begin_epoch(self, now: float) -> None:
        if self._data.epoch is None:
            self._data.epoch = int(now * 1_000_000)

    def _raise_epoch(self, now: float) -> None:
        self._begin_epoch(now)
        self._data.epoch = (self._data.epoch or 0) + 1

    def _refusal_of_aborted(self, request: Request) -> Refusal | None:
        account = self._data.runs.get(request.run_id)
        return None if account is None or account.aborted is None else Refusal(RefusalKind.ABORTED, account.aborted)

    def _wait_while_closed(self, now: float) -> Wait | None:
        data = self._data
        if data.opens_at is None:
            return None
        if now < data.opens_at:
            return Wait(data.opens_at - now, closed=True)
        if data.probe is not None and now < data.probe_until:
            return Wait(min(data.probe_until - now, PROBE_POLL_SECONDS))
        return None

    def _refusal_of_spent(self, request: Request) -> Refusal | Wait | None:
        most, account = request.max_run_tokens, self._data.runs.get(request.run_id)
        spent = 0 if account is None else account.spent
        if not request.run_id or most is None or spent + request.tokens <= most:
            return None
        in_flight = (slot.request for slot in self._data.slots.values() if slot.request.run_id == request.run_id)
        spent -= sum(one.tokens for one in in_flight)  # may turn out to be less, or nothing
        if spent + request.tokens <= most:
            return Wait(SLOT_POLL_SECONDS)
        return Refusal(RefusalKind.BUDGET, rules.budget_reason(spent, request.tokens, most))

    def _wait_for_rate(self, request: Request, limits: Limits, now: float) -> Wait | None:
        data = self._data
        learned = limits.requests_per_minute is None and data.rate is not None
        if learned and data.opens_at is None and now - data.rate_since >= rules.QUIET_SECONDS:
            data.rate, data.rate_since = (data.rate or 0.0) * rules.RATE_GROWTH, now
        if not request.waits_for_nobody:
            data.note_asker(request, limits, now)
        seconds = data.rate_wait(limits, now)
        if seconds > 0 and learned:
            data.unhindered_since = now
        if seconds <= 0:
            seconds = data.token_wait(request.tokens, limits, now)
            if not request.waits_for_nobody:
                seconds = min(seconds, rules.LONGEST_TOKEN_WAIT_SECONDS)
        if seconds <= 0:
            return None
        if not request.waits_for_nobody and len(data.slots) >= data.limit():
            data.note_slots_wanted(seconds, now)
        return self._wait_in_turn(request, seconds, now)

    def _wait_for_slot(self, request: Request, limits: Limits, now: float) -> Wait | None:
        data = self._data
        if request.waits_for_nobody:
            return None
        if len(data.slots) >= data.limit():
            data.note_slots_wanted(SLOT_POLL_SECONDS, now)
            return self._wait_in_turn(request, SLOT_POLL_SECONDS, now)
        if limits.concurrency is not None and data.taken_by(request.knowledge_base) >= limits.concurrency:
            data.askers[request.knowledge_base].waits_until = 0.0
            return Wait(SLOT_POLL_SECONDS)
        first = data.those_who_go_first(request.knowledge_base, limits, now)
        if not first:
            return None
        return self._wait_in_turn(request, max(SLOT_POLL_SECONDS, min(other.waits_until for other in first) - now), now)

    def _wait_in_turn(self, request: Request, seconds: float, now: float) -> Wait:
        if not request.waits_for_nobody:
            self._data.askers[request.knowledge_base].waits_until = now + seconds
        return Wait(seconds)

    def _grant(self, holder: str, request: Request, now: float) -> Permit:
        data = self._data
        probes = data.opens_at is not None
        permit = Permit(slot=secrets.token_hex(8), epoch=data.epoch or 0, probe=probes, request=request)
        data.take(permit, holder, now)
        if probes:
            data.probe, data.probe_until = permit.slot, now + self._probe_lease_seconds
        return permit

    def _free(self, name: str, outcome: RequestOutcome, tokens: int | None, now: float) -> Slot | None:
        data = self._data
        if data.probe == name:
            data.probe = None
        slot = data.free(name, now)
        if slot is None:
            return None
        if name in data.in_second:
            data.in_second[name] = min(data.in_second[name], now + rules.SECOND_SECONDS)
        if tokens is not None:
            data.settle_tokens(slot, tokens, spent=tokens)
        elif outcome in _NOT_SPENT:
            data.settle_tokens(slot, slot.request.tokens, spent=0)
        return slot

    def _fails_too_often(self, run_id: str, reason: str) -> bool:
        account, successes = self._data.run(run_id), self._data.successes
        account.failures = account.failures + 1 if account.after_success == successes else 1
        account.after_success = successes
        if account.failures < FAILURES_WITHOUT_SUCCESS:
            return False
        account.failures = 0
        self._abort(run_id, reason)
        return True

    def _abort(self, run_id: str, reason: str) -> None:
        account = self._data.run(run_id)
        if account.aborted is None:
            account.aborted = reason

    def _close(self, retry_after_seconds: float | None, now: float) -> Reported:
        data = self._data
        first = data.opens_at is None
        data.failures += 1
        if first:
            data.climb = rules.after_closing(replace(data.climb, limit=data.limit()))
        seconds = backoff_seconds(data.failures, retry_after_seconds, self._jitter())
        data.opens_at = now + seconds
        self._raise_epoch(now)
        return Reported(GateChange.CLOSED if first else GateChange.CLOSED_AGAIN, seconds)

    def _open(self, now: float) -> Reported:
        data = self._data
        data.failures, data.opens_at, data.rate_since = 0, None, now
        data.climb = rules.after_opening(data.climb)
        self._raise_epoch(now)
        return Reported(GateChange.OPENED)

    def _climb(self, now: float, *, full: bool) -> None:
        data = self._data
        wanted = data.wanted_until is not None and now <= data.wanted_until
        held = replace(data.climb, limit=data.limit())
        climbed = rules.after_success(held, now, data.top, full=full, wanted_since=data.wanted_since if wanted else None)
        if climbed != held:
            data.climb = climbed
