"""Models behind every provider's own API keep the contract of embedding models."""

from collections.abc import Iterator

import pytest

from docmill.adapters.providers.embedding_models import remote_model
from docmill.adapters.providers.remote import RemoteEmbeddingModel
from docmill.config.prefixes import prefixes_of
from docmill.config.providers import adapter_for
from docmill.domain.knowledge_bases import EmbeddingModelSpec
from docmill.testing.model_contract import EmbeddingModelContract
from support.embedding_server import EmbeddingServer, running_embedding_server

#: A model of each provider, how long its vectors are asked to be, and where the server has its API.
MODELS = [
    ("google", "gemini-embedding-001", 3072, "/v1beta"),
    ("google", "gemini-embedding-001", 16, "/v1beta"),
    ("google", "gemini-embedding-2", 16, "/v1beta"),
    ("cohere", "embed-english-v3.0", 8, ""),
    ("cohere", "embed-v4.0", 16, ""),
    ("voyage", "voyage-3.5", 16, "/voyage/v1"),
    ("voyage", "voyage-law-2", 8, "/voyage/v1"),
    ("mistral", "mistral-embed", 8, "/mistral/v1"),
    ("mistral", "codestral-embed", 16, "/mistral/v1"),
    ("ollama", "nomic-embed-text", 16, "/v1"),
    ("ollama", "mxbai-embed-large", 8, ""),
    ("dmr", "ai/embeddinggemma", 8, "/engines/v1"),
]


@pytest.fixture(scope="module")
def server() -> Iterator[EmbeddingServer]:
    with running_embedding_server(dimensions=8) as server:
        yield server


@pytest.fixture(scope="module", params=MODELS, ids=lambda given: f"{given[0]}/{given[1]}-{given[2]}")
def connected(request: pytest.FixtureRequest, server: EmbeddingServer) -> Iterator[RemoteEmbeddingModel]:
    provider, name, dimensions, path = request.param
    wanted = prefixes_of(name)
    spec = EmbeddingModelSpec(
        provider, name, dimensions, base_url=server.address + path, query_prefix=wanted.query, passage_prefix=wanted.passage
    )
    adapter = adapter_for(spec)
    assert adapter is not None
    model = remote_model(spec, adapter, dimensions=dimensions, api_key="a-key", headers={})
    yield model
    model.close()


class TestRemoteEmbeddingModel(EmbeddingModelContract):
    @pytest.fixture
    def model(self, connected: RemoteEmbeddingModel) -> RemoteEmbeddingModel:
        return connected
