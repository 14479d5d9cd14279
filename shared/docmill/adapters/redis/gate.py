"""The gate on Redis: one small script for each of its methods; what they keep is told in ``lua/gate_state.lua``."""

import contextlib
import hashlib
import random
import secrets
import threading
from collections.abc import Callable, Iterator
from functools import cache
from importlib import resources
from typing import Final

import redis

from docmill.domain import gate_rules as rules
from docmill.domain.backoff import backoff_seconds
from docmill.domain.errors import StoreDown
from docmill.ports.gate import (
    FAILURES_WITHOUT_SUCCESS,
    HOLDER_SECONDS,
    LEARNING_STARTS_AT,
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

_REFUSALS_UNTIL_LONGEST: Final = 6
_UNUSED_SECONDS: Final = 86_400
_KEYS: Final = ("state", "slots", "holders", "left", "second", "succeeded", "tokens", "askers")
_PARTS: Final = {
    "acquire": ("climb", "windows", "turns"),
    "report": ("climb", "closing", "windows"),
    "close": ("climb", "closing"),
}
_RULES: Final = {
    "minute_seconds": rules.MINUTE_SECONDS,
    "spaced_below": rules.SPACED_BELOW,
    "second_seconds": rules.SECOND_SECONDS,
    "longest_in_second": rules.LONGEST_IN_SECOND,
    "highest_limit": rules.HIGHEST_LIMIT,
    "learning_starts_at": LEARNING_STARTS_AT,
    "stretch_seconds": rules.STRETCH_SECONDS,
    "gain": rules.GAIN,
    "try_again_seconds": rules.TRY_AGAIN_SECONDS,
    "rate_share": rules.RATE_SHARE,
    "least_rate": rules.LEAST_RATE,
    "rate_growth": rules.RATE_GROWTH,
    "quiet_seconds": rules.QUIET_SECONDS,
    "few_successes": rules.FEW_SUCCESSES,
    "long_measure_seconds": rules.LONG_MEASURE_SECONDS,
    "forget_rate_seconds": rules.FORGET_RATE_SECONDS,
    "busy_seconds": rules.BUSY_SECONDS,
    "patience_seconds": rules.PATIENCE_SECONDS,
    "ceiling_seconds": rules.CEILING_SECONDS,
    "demand_gap_seconds": rules.DEMAND_GAP_SECONDS,
    "unhindered_gap_seconds": rules.UNHINDERED_GAP_SECONDS,
    "forget_asker_seconds": rules.FORGET_ASKER_SECONDS,
    "longest_token_wait_seconds": rules.LONGEST_TOKEN_WAIT_SECONDS,
    "holder_seconds": HOLDER_SECONDS,
    "slot_poll_seconds": SLOT_POLL_SECONDS,
    "probe_poll_seconds": PROBE_POLL_SECONDS,
    "failures_without_success": FAILURES_WITHOUT_SUCCESS,
    "unused_seconds": _UNUSED_SECONDS,
}


class RedisGate:
    """A provider's gate that every process of the fleet shares."""

    def __init__(
        self,
        client: redis.Redis,
        provider_key: str,
        *,
        probe_lease_seconds: float = 60.0,
        jitter: Callable[[], float] = random.random,
        test_clock: Callable[[], float] | None = None,
    ) -> None:
        """Touches nothing yet.

        Args:
            client: of a Redis; with or without ``decode_responses``.
            provider_key: stands for the provider's base URL and credential; only a hash of it is stored.
            probe_lease_seconds: as long as a request to the provider may take.
            jitter: from 0 to 1, random.
            test_clock: seconds since 1970, in place of Redis's clock; for tests alone.
        """
        name = hashlib.blake2b(provider_key.encode(), digest_size=16).hexdigest()
        self._prefix = f"docmill:{{gate:{name}}}:"
        self._acquire = client.register_script(_script("acquire"))
        self._report = client.register_script(_script("report"))
        self._heartbeat = client.register_script(_script("heartbeat"))
        self._close = client.register_script(_script("close"))
        self._abort = client.register_script(_script("abort"))
        self._aborted = client.register_script(_script("aborted"))
        self._status = client.register_script(_script("status"))
        self._probe_lease_seconds = probe_lease_seconds
        self._jitter = jitter
        self._test_clock = test_clock
        # Slots of calls that ended without an answer: the server may or may not have them.
        self._unsure: set[str] = set()
        self._unsure_lock = threading.Lock()

    def acquire(self, holder: str, request: Request, limits: Limits) -> Permit | Wait | Refusal:
        """See :class:`docmill.ports.gate.Gate`."""
        rules.check_limits(limits.concurrency, limits.requests_per_minute, limits.tokens_per_minute)
        slot = secrets.token_hex(8)
        arguments: list[str | int | float] = [
            *(self._now(), holder, slot, self._probe_lease_seconds, request.knowledge_base, request.run_id, request.tokens),
            *(_or_empty(request.max_run_tokens), int(request.waits_for_nobody)),
            *(_or_empty(limits.concurrency), _or_empty(limits.requests_per_minute), _or_empty(limits.tokens_per_minute)),
        ]
        with self._freeing_unsure() as unsure, self._unsure_on_failure(slot), _redis_errors():
            answer = self._acquire(self._keys(request.run_id), [*arguments, *unsure])
        kind, value, *rest = [_text(part) for part in answer]
        if kind == "wait":
            return Wait(float(value), closed=rest == ["1"])
        if kind == "aborted":
            return Refusal(RefusalKind.ABORTED, value)
        if kind == "budget":
            return Refusal(RefusalKind.BUDGET, rules.budget_reason(int(value), request.tokens, request.max_run_tokens or 0))
        return Permit(slot=slot, epoch=int(value), probe=rest == ["1"], request=request)

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
        run_id, waits = permit.request.run_id, self._waits(retry_after_seconds)
        arguments = [self._now(), permit.slot, permit.epoch, outcome.value, run_id, reason, _or_empty(tokens), *waits]
        with self._unsure_on_failure(permit.slot), _redis_errors():
            return _reported(self._report(self._keys(run_id), arguments))

    def close(self, retry_after_seconds: float | None = None, *, run_id: str = "") -> Reported:
        """See :class:`docmill.ports.gate.Gate`."""
        with _redis_errors():
            return _reported(self._close(self._keys(run_id), [self._now(), run_id, *self._waits(retry_after_seconds)]))

    def abort(self, run_id: str, reason: str) -> None:
        """See :class:`docmill.ports.gate.Gate`."""
        rules.check_run(run_id)
        with _redis_errors():
            self._abort(self._keys(run_id), [self._now(), reason])

    def aborted(self, run_id: str) -> str | None:
        """See :class:`docmill.ports.gate.Gate`."""
        with _redis_errors():
            reason = self._aborted(self._keys(run_id), [self._now()])
        return None if reason is None else _text(reason)

    def _keys(self, run_id: str = "") -> list[str]:
        return [f"{self._prefix}{part}" for part in (*_KEYS, f"run:{run_id}")]

    def _waits(self, retry_after_seconds: float | None) -> list[str]:
        """The waits after the first, second, ... refusal in a row; the last one goes for all after it."""
        jitter = self._jitter()
        return [repr(backoff_seconds(n, retry_after_seconds, jitter)) for n in range(1, _REFUSALS_UNTIL_LONGEST + 1)]

    def heartbeat(self, holder: str) -> None:
        """See :class:`docmill.ports.gate.Gate`."""
        with self._freeing_unsure() as unsure, _redis_errors():
            self._heartbeat(self._keys(), [self._now(), holder, *unsure])

    def status(self) -> GateStatus:
        """See :class:`docmill.ports.gate.Gate`."""
        with _redis_errors():
            state, opens_at, failures, may_be_tried = (_text(part) for part in self._status(self._keys(), [self._now()]))
        return GateStatus(GateState(state), float(opens_at) if opens_at else None, int(failures), may_be_tried == "1")

    def _now(self) -> str:
        return repr(self._test_clock()) if self._test_clock else ""

    @contextlib.contextmanager
    def _freeing_unsure(self) -> Iterator[list[str]]:
        """The slots that the block's call frees; they are forgotten when it succeeds."""
        with self._unsure_lock:
            unsure = sorted(self._unsure)
        yield unsure
        with self._unsure_lock:
            self._unsure.difference_update(unsure)

    @contextlib.contextmanager
    def _unsure_on_failure(self, slot: str) -> Iterator[None]:
        try:
            yield
        except StoreDown:
            with self._unsure_lock:
                self._unsure.add(slot)
            raise


@contextlib.contextmanager
def _redis_errors() -> Iterator[None]:
    try:
        yield
    except redis.exceptions.RedisError as error:
        raise StoreDown(f"The provider's gate cannot be read from Redis: {error}") from error


@cache
def _script(name: str) -> str:
    folder = resources.files("docmill.adapters.redis") / "lua"
    rules_table = ", ".join(f"{rule} = {number!r}" for rule, number in _RULES.items())
    parts = ("state", *_PARTS.get(name, ()), name)
    return "\n".join([f"local RULES = {{{rules_table}}}", *((folder / f"gate_{part}.lua").read_text(encoding="utf-8") for part in parts)])


def _reported(answer: list[object]) -> Reported:
    change, seconds = (_text(part) for part in answer)
    return Reported(GateChange(change), float(seconds) if seconds else None)


def _text(part: object) -> str:
    return part.decode() if isinstance(part, bytes) else str(part)


def _or_empty(number: int | None) -> str:
    return "" if number is None else str(number)
