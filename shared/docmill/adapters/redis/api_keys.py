"""The ``KeyStore`` and ``RequestCounter`` ports on Redis.

Keys are in the hash ``docmill:api-keys``, from id to JSON; requests are counted by the ``limits`` package under ``docmill:requests``.
"""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import cached_property
from typing import TYPE_CHECKING, Final

import redis
from pydantic import TypeAdapter, ValidationError

from docmill.domain.access import ApiKey
from docmill.domain.errors import StoreDown, StoreRejected

if TYPE_CHECKING:
    from limits.strategies import MovingWindowRateLimiter

_KEYS: Final = "docmill:api-keys"
_REQUESTS: Final = "docmill:requests"
_KEY: Final = TypeAdapter(ApiKey)


@contextmanager
def _redis_errors() -> Iterator[None]:
    try:
        yield
    except redis.RedisError as error:
        raise StoreDown(f"Redis, which holds the API keys, does not answer: {error}") from error


class RedisKeyStore:
    """Keys of every process on one Redis."""

    def __init__(self, client: redis.Redis) -> None:
        """Connects to nothing yet."""
        self._client = client

    def all(self) -> list[ApiKey]:
        """See ``KeyStore.all``."""
        with _redis_errors():
            found = self._client.hvals(_KEYS)
        try:
            keys = [_KEY.validate_json(text) for text in found]
        except ValidationError as error:
            raise StoreRejected(f"{_KEYS} on Redis has a key that cannot be read: {error.error_count()} errors") from error
        return sorted(keys, key=lambda key: (key.created_at, key.id))

    def put(self, key: ApiKey) -> None:
        """See ``KeyStore.put``."""
        with _redis_errors():
            self._client.hset(_KEYS, key.id, json.dumps(asdict(key)))

    def remove(self, key_id: str) -> bool:
        """See ``KeyStore.remove``."""
        with _redis_errors():
            return bool(self._client.hdel(_KEYS, key_id))


class RedisRequestCounter:
    """Counts over a moving window of a minute, for every process on one Redis."""

    def __init__(self, client: redis.Redis) -> None:
        """Connects to nothing yet."""
        self._client = client

    @cached_property
    def _limiter(self) -> "MovingWindowRateLimiter":
        from limits.storage import RedisStorage  # most processes have no key with a limit, and need not wait for the package
        from limits.strategies import MovingWindowRateLimiter

        return MovingWindowRateLimiter(RedisStorage("redis://", connection_pool=self._client.connection_pool, key_prefix=_REQUESTS))

    def wait_of(self, key: ApiKey) -> float:
        """See ``RequestCounter.wait_of``."""
        if key.requests_per_minute is None:
            return 0.0
        from limits import RateLimitItemPerMinute  # as above

        limit = RateLimitItemPerMinute(key.requests_per_minute)
        with _redis_errors():
            if self._limiter.hit(limit, key.id):
                return 0.0
            return max(0.1, self._limiter.get_window_stats(limit, key.id).reset_time - time.time())
