"""Kombu's Redis transport with one client per channel.

Kombu makes a new ``redis.Redis`` object twice for every message, about a tenth of a millisecond each. A client over a connection pool
may be used by many threads, so this channel makes it once.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kombu.transport import TRANSPORT_ALIASES
from kombu.transport import redis as kombu_redis


class Channel(kombu_redis.Channel):
    """A channel that keeps the client through which it appends and acknowledges."""

    _kept_client: Any = None

    @contextmanager
    def conn_or_acquire(self, client: Any = None) -> Iterator[Any]:
        """``client``, or the channel's own; its pool hands out one connection per use, as for a new client."""
        if client is None:
            kept = self._kept_client
            if kept is None or kept.connection_pool is not self.pool:
                kept = self._kept_client = self._create_client()  # type: ignore[attr-defined]  # missing in the stubs
            client = kept
        yield client


class Transport(kombu_redis.Transport):
    """The Redis transport with that channel."""

    Channel = Channel


def use_lean_transport() -> None:
    """Makes every ``redis`` broker URL of this process use it."""
    TRANSPORT_ALIASES["redis"] = f"{__name__}:Transport"
