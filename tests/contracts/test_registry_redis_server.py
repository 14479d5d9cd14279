"""The state on the oldest server at hand keeps the same contract."""

from collections.abc import Iterator

import pytest
import redis

from docmill.testing.registry_contract import RegistryContract, StateUnderTest
from support.redis_server import HOST, redis_at_port
from support.redis_states import fresh_redis_state


@pytest.fixture(scope="module")
def client() -> Iterator[redis.Redis]:
    with redis_at_port() as port, redis.Redis(host=HOST, port=port) as client:
        yield client


class TestRedisStateOnRedis(RegistryContract):
    @pytest.fixture
    def fresh_state(self, client: redis.Redis) -> StateUnderTest:
        return fresh_redis_state(client)
