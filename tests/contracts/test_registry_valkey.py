"""The state on a real server keeps the contract of registry, leases and ledger."""

from collections.abc import Iterator

import pytest
import redis

from docmill.testing.registry_contract import RegistryContract, StateUnderTest
from support.redis_states import fresh_redis_state
from support.valkey_server import client_of, running_valkey


@pytest.fixture(scope="module")
def client() -> Iterator[redis.Redis]:
    with running_valkey() as socket, client_of(socket) as client:
        yield client


class TestRedisStateOnValkey(RegistryContract):
    @pytest.fixture
    def fresh_state(self, client: redis.Redis) -> StateUnderTest:
        return fresh_redis_state(client)
