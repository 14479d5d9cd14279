"""States on Redis-like servers, as the contract suite takes them."""

import fakeredis
import redis

from docmill.adapters.redis.keys import CLOCK_OFFSET_FIELD, prefix_of
from docmill.adapters.redis.state import RedisState
from docmill.testing.state_under_test import StateUnderTest


def fresh_redis_state(client: redis.Redis, kb: str = "handbook") -> StateUnderTest:
    """A state on an emptied server."""
    client.flushall()

    def shift_clock(seconds: float) -> None:
        client.hincrby(f"{prefix_of(kb)}meta", CLOCK_OFFSET_FIELD, round(seconds * 1000))

    def replace_server() -> None:
        client.hset(f"{prefix_of(kb)}meta", "server", "the run id of another server")

    state = RedisState(client, kb)
    has_identity = not isinstance(client, fakeredis.FakeRedis)
    return StateUnderTest(state.registry, state.leases, state.ledger, shift_clock, replace_server if has_identity else None)
