"""The scripts also run on fakeredis, which has no server of its own."""

from collections.abc import Iterator

import fakeredis
import pytest

from docmill.testing.registry_contract import RegistryContract, StateUnderTest
from support.redis_states import fresh_redis_state


class TestRedisStateOnFakeredis(RegistryContract):
    @pytest.fixture
    def fresh_state(self) -> Iterator[StateUnderTest]:
        with fakeredis.FakeRedis() as client:
            yield fresh_redis_state(client)
