"""Kombu's Redis transports with one client per channel.

Kombu makes a new ``redis.Redis`` object twice for every message, about a tenth of a millisecond each. A client over a connection pool
may be used by many threads, so these channels make it once.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kombu.transport import TRANSPORT_ALIASES
from kombu.transport import redis as kombu_redis


class _OneClient:
    """Keeps the client through which a channel appends and acknowledges."""

    _kept_client: Any = None

    @contextmanager
    def conn_or_acquire(self, client: Any = None) -> Iterator[Any]:
        """``client``, or the channel's own; its pool hands out one connection per use, as for a new client."""
        if client is None:
            kept, pool = self._kept_client, self.pool  # type: ignore[attr-defined]  # the channel's
            if kept is None or kept.connection_pool is not pool:
                kept = self._kept_client = self._create_client()  # type: ignore[attr-defined]  # the channel's
            client = kept
        yield client


class Channel(_OneClient, kombu_redis.Channel):
    """A channel to one server."""


class Transport(kombu_redis.Transport):
    """The Redis transport with that channel."""

    Channel = Channel


class SentinelChannel(_OneClient, kombu_redis.SentinelChannel):
    """A channel to the server that Sentinel names."""


class SentinelTransport(kombu_redis.SentinelTransport):
    """The Sentinel transport with that channel."""

    Channel = SentinelChannel


def use_lean_transport() -> None:
    """Makes every Redis broker URL of this process use them."""
    TRANSPORT_ALIASES["redis"] = TRANSPORT_ALIASES["rediss"] = f"{__name__}:Transport"
    TRANSPORT_ALIASES["sentinel"] = f"{__name__}:SentinelTransport"
