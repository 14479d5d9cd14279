"""A model behind the OpenAI API keeps the contract of embedding models."""

from collections.abc import Iterator

import pytest

from docmill.adapters.providers.openai_compatible import OpenAiEmbeddingModel
from docmill.domain.knowledge_bases import EmbeddingModelSpec
from docmill.testing.model_contract import EmbeddingModelContract
from support.openai_server import running_openai_server


@pytest.fixture(scope="module")
def connected() -> Iterator[OpenAiEmbeddingModel]:
    with running_openai_server(dimensions=16) as server:
        spec = EmbeddingModelSpec("openai", "some-model", base_url=server.base_url, batch_size=50)
        model = OpenAiEmbeddingModel(spec, dimensions=16, api_key="a-key")
        yield model
        model.close()


class TestOpenAiEmbeddingModel(EmbeddingModelContract):
    @pytest.fixture
    def model(self, connected: OpenAiEmbeddingModel) -> OpenAiEmbeddingModel:
        return connected
