"""The scripts also run on fakeredis, which has no server of its own."""

from collections.abc import Iterator

import fakeredis
import pytest

from docmill.adapters.memory.state import MemoryState
from docmill.adapters.redis.state import RedisState
from docmill.testing.registry_contract import RegistryContract, StateUnderTest
from support.redis_states import fresh_redis_state


class TestRedisStateOnFakeredis(RegistryContract):
    @pytest.fixture
    def fresh_state(self) -> Iterator[StateUnderTest]:
        with fakeredis.FakeRedis() as client:
            yield fresh_redis_state(client)


def test_runs_of_different_knowledge_bases_have_different_ids() -> None:
    with fakeredis.FakeRedis() as client:
        for make in (MemoryState, lambda kb: RedisState(client, kb)):
            ids = set()
            for kb in ("handbook", "manual"):
                state = make(kb)
                state.registry.raise_epoch(1)
                ids.add(state.ledger.start_run()[0].id)
            assert len(ids) == 2
