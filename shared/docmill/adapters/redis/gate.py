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

from docmill.domain.backoff import backoff_seconds
from docmill.domain.errors import StoreDown
from docmill.ports.gate import (
    HOLDER_SECONDS,
    PROBE_POLL_SECONDS,
    SLOT_POLL_SECONDS,
    GateState,
    GateStatus,
    Permit,
    RequestOutcome,
)

_REFUSALS_UNTIL_LONGEST: Final = 6


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
        self._keys = [f"docmill:{{gate:{name}}}:{part}" for part in ("state", "slots", "holders")]
        self._acquire = client.register_script(_script("acquire"))
        self._report = client.register_script(_script("report"))
        self._heartbeat = client.register_script(_script("heartbeat"))
        self._status = client.register_script(_script("status"))
        self._probe_lease_seconds = probe_lease_seconds
        self._jitter = jitter
        self._test_clock = test_clock
        # Slots of calls that ended without an answer: the server may or may not have them.
        self._unsure: set[str] = set()
        self._unsure_lock = threading.Lock()

    def acquire(self, holder: str, ceiling: int) -> Permit | float:
        """See :class:`docmill.ports.gate.Gate`."""
        if ceiling < 1:
            raise ValueError(f"a ceiling of {ceiling} requests would never let one through")
        slot = secrets.token_hex(8)
        numbers = (self._probe_lease_seconds, HOLDER_SECONDS, SLOT_POLL_SECONDS, PROBE_POLL_SECONDS)
        with self._freeing_unsure() as unsure, self._unsure_on_failure(slot), _redis_errors():
            answer = self._acquire(self._keys, [self._now(), holder, ceiling, slot, *numbers, *unsure])
        kind, value, *rest = [_text(part) for part in answer]
        if kind == "wait":
            return float(value)
        return Permit(slot=slot, epoch=int(value), probe=rest == ["1"])

    def report(self, permit: Permit, outcome: RequestOutcome, retry_after_seconds: float | None = None) -> None:
        """See :class:`docmill.ports.gate.Gate`."""
        jitter = self._jitter()
        waits = [f"{backoff_seconds(n, retry_after_seconds, jitter):.6f}" for n in range(1, _REFUSALS_UNTIL_LONGEST + 1)]
        with self._unsure_on_failure(permit.slot), _redis_errors():
            self._report(self._keys, [self._now(), permit.slot, permit.epoch, outcome.value, *waits])

    def heartbeat(self, holder: str) -> None:
        """See :class:`docmill.ports.gate.Gate`."""
        with self._freeing_unsure() as unsure, _redis_errors():
            self._heartbeat(self._keys, [self._now(), holder, *unsure])

    def status(self) -> GateStatus:
        """See :class:`docmill.ports.gate.Gate`."""
        with _redis_errors():
            state, opens_at, failures = (_text(part) for part in self._status(self._keys, [self._now()]))
        return GateStatus(GateState(state), float(opens_at) if opens_at else None, int(failures))

    def _now(self) -> str:
        return f"{self._test_clock():.6f}" if self._test_clock else ""

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
    return "\n".join((folder / f"gate_{part}.lua").read_text(encoding="utf-8") for part in ("state", name))


def _text(part: object) -> str:
    return part.decode() if isinstance(part, bytes) else str(part)
