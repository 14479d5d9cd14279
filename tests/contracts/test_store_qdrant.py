"""The Qdrant store under the published contract: on the client's engine, on fronts that speak as the server does, on a real server."""

import os
from collections.abc import Iterator
from threading import RLock
from typing import Any, cast

import pytest
from qdrant_client import QdrantClient

from docmill.adapters.qdrant import QdrantVectorStore, connect_qdrant
from docmill.config.settings import Settings
from docmill.testing.store_contract import VectorStoreContract
from support.qdrant_grpc import qdrant_grpc_server
from support.qdrant_server import qdrant_server_in_thread


class OneAtATime:
    """A client whose calls do not overlap: the engine in this process is not made for threads."""

    def __init__(self, client: QdrantClient) -> None:
        self._client = client
        self._lock = RLock()

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._client, name)

        def call(*arguments: object, **named: object) -> object:
            with self._lock:
                return method(*arguments, **named)

        return call


@pytest.mark.filterwarnings("ignore:Payload indexes have no effect in the local Qdrant:UserWarning")
class TestQdrantVectorStoreInThisProcess(VectorStoreContract):
    @pytest.fixture
    def store(self) -> Iterator[QdrantVectorStore]:
        store = QdrantVectorStore(cast("QdrantClient", OneAtATime(QdrantClient(":memory:"))), "this process")
        yield store
        store.close()


@pytest.fixture(scope="module")
def front_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[QdrantVectorStore]:
    with qdrant_server_in_thread(tmp_path_factory.mktemp("qdrant")) as server:
        store = connect_qdrant(Settings(qdrant_url=server.url))
        yield store
        store.close()


class TestQdrantVectorStoreOverRest(VectorStoreContract):
    @pytest.fixture
    def store(self, front_store: QdrantVectorStore) -> QdrantVectorStore:
        return front_store


@pytest.fixture(scope="module")
def grpc_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[QdrantVectorStore]:
    with qdrant_grpc_server(tmp_path_factory.mktemp("qdrant")) as server:
        store = connect_qdrant(Settings(qdrant_url=server.url))
        yield store
        store.close()


class TestQdrantVectorStoreOverGrpc(VectorStoreContract):
    @pytest.fixture
    def store(self, grpc_store: QdrantVectorStore) -> QdrantVectorStore:
        return grpc_store


REAL_URL = os.environ.get("DOCMILL_TEST_QDRANT_URL")

if REAL_URL is None:

    @pytest.mark.skip(reason="DOCMILL_TEST_QDRANT_URL names no Qdrant server, and no package registry has one")
    def test_a_real_server_keeps_the_contract() -> None:
        """In place of the whole suite."""

else:

    @pytest.fixture(scope="module")
    def real_store() -> Iterator[QdrantVectorStore]:
        store = connect_qdrant(Settings(qdrant_url=REAL_URL, qdrant_api_key=os.environ.get("DOCMILL_TEST_QDRANT_API_KEY")))
        yield store
        store.close()

    class TestQdrantVectorStoreOnARealServer(VectorStoreContract):
        @pytest.fixture
        def store(self, real_store: QdrantVectorStore) -> QdrantVectorStore:
            return real_store
