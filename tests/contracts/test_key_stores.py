"""The stores of API keys keep their contract."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from docmill.adapters.embedded.valkey import ValkeyServer
from docmill.adapters.memory.keys import MemoryKeyStore, MemoryRequestCounter
from docmill.adapters.redis.api_keys import RedisKeyStore, RedisRequestCounter
from docmill.domain.errors import StoreDown
from docmill.ports.keys import KeyStore, RequestCounter
from docmill.testing.key_store_contract import KeyStoreContract, key_of


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ValkeyServer]:
    with ValkeyServer(Path(tmp_path_factory.mktemp("keys"))) as server:
        yield server


@pytest.fixture
def client(server: ValkeyServer) -> Iterator[redis.Redis]:
    with redis.Redis(unix_socket_path=str(server.socket)) as client:
        client.flushall()
        yield client


class TestMemoryKeyStore(KeyStoreContract):
    @pytest.fixture
    def keys(self) -> KeyStore:
        return MemoryKeyStore()

    @pytest.fixture
    def counter(self) -> RequestCounter:
        return MemoryRequestCounter(lambda: 1000.0)


class TestRedisKeyStore(KeyStoreContract):
    @pytest.fixture
    def keys(self, client: redis.Redis) -> KeyStore:
        return RedisKeyStore(client)

    @pytest.fixture
    def counter(self, client: redis.Redis) -> RequestCounter:
        return RedisRequestCounter(client)

    def test_a_silent_server_is_said_to_be_down(self) -> None:
        nobody = redis.Redis(port=1, socket_connect_timeout=1)
        for ask in (RedisKeyStore(nobody).all, lambda: RedisKeyStore(nobody).put(key_of("a")), lambda: RedisKeyStore(nobody).remove("a")):
            with pytest.raises(StoreDown, match="API keys"):
                ask()
        with pytest.raises(StoreDown):
            RedisRequestCounter(nobody).wait_of(key_of("a", requests_per_minute=1))
