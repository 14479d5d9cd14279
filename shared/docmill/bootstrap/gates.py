"""Gates: one for each account at a provider, shared by all models of a process, and through Redis by the whole fleet."""

import secrets
import threading
from collections.abc import Callable, Iterator, Mapping

import redis

from docmill.adapters.providers.accounts import Account
from docmill.adapters.providers.held_slots import HeldSlots
from docmill.adapters.providers.permits import Permits, Spent
from docmill.adapters.providers.places import account_of
from docmill.adapters.redis.gate import RedisGate
from docmill.config import Configuration
from docmill.config.providers import ModelSpec
from docmill.domain.errors import ConfigurationError
from docmill.domain.knowledge_bases import EmbeddingModelSpec
from docmill.ports.gate import Gate, Limits

GateOf = Callable[[Account], Gate]


class Gates:
    """The gates of a process, and the permits that its models take there."""

    def __init__(self, gate_of: GateOf, limits: Mapping[Account, Limits], *, query_seconds: float, spent: Spent = lambda *_: None) -> None:
        """Makes no gate yet.

        Args:
            gate_of: makes an account's gate.
            limits: what the configuration says of the accounts that it has.
            query_seconds: how long a query waits for leave.
            spent: called for each request that was answered.
        """
        self._make = gate_of
        self._limits = limits
        self._query_seconds = query_seconds
        self._spent = spent
        self._held = HeldSlots(holder=secrets.token_hex(8))
        self._gates: dict[Account, Gate] = {}
        self._lock = threading.Lock()

    def gate_of(self, account: Account) -> Gate:
        """The gate of ``account``, always the same one."""
        with self._lock:
            if account not in self._gates:
                self._gates[account] = self._make(account)
            return self._gates[account]

    def permits_of(self, provider: str, account: Account, own: Limits) -> Permits:
        """The permits of one model; see ``PermitsOf``. Where the configuration limits the account, that holds for every model of it."""
        known = self._limits.get(account, own)
        limits = Limits(own.concurrency, known.requests_per_minute, known.tokens_per_minute)
        return Permits(self.gate_of(account), provider, limits, self._held, query_seconds=self._query_seconds, spent=self._spent)

    def close(self) -> None:
        """Sends no heartbeats any more; nothing may be on its way to a provider."""
        self._held.close()


def redis_gates(client: redis.Redis, *, request_seconds: float) -> GateOf:
    """Makes gates on Redis; a prober that is lost is replaced after ``request_seconds``, the time-out of a request."""
    return lambda account: RedisGate(client, account.key, probe_lease_seconds=request_seconds)


def limits_of(configuration: Configuration, environ: Mapping[str, str]) -> dict[Account, Limits]:
    """What the configuration says of each account: of several models' limits the smallest."""
    found: dict[Account, Limits] = {}
    for spec in _specifications(configuration):
        try:
            account = account_of(spec, environ)
        except ConfigurationError:
            continue  # nothing can call it; who tries is told so
        if account is not None:
            known = found.get(account, Limits())
            found[account] = Limits(
                None,
                _smaller(known.requests_per_minute, spec.requests_per_minute),
                _smaller(known.tokens_per_minute, spec.tokens_per_minute),
            )
    return found


def _specifications(configuration: Configuration) -> Iterator[EmbeddingModelSpec | ModelSpec]:
    yield from configuration.models.values()
    for knowledge_base in configuration.knowledge_bases:
        yield from (strategy.embedding for strategy in knowledge_base.strategies if strategy.embedding is not None)


def _smaller(one: int | None, other: int | None) -> int | None:
    return min((number for number in (one, other) if number is not None), default=None)
