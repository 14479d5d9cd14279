"""The default local model keeps the contract of embedding models."""

import pytest

from docmill.adapters.providers.minilm import MiniLmModel
from docmill.testing.model_contract import EmbeddingModelContract


@pytest.fixture(scope="module", params=[1, 2], ids=["one-thread", "two-threads"])
def loaded(request: pytest.FixtureRequest) -> MiniLmModel:
    return MiniLmModel(threads=request.param)


class TestMiniLmModel(EmbeddingModelContract):
    @pytest.fixture
    def model(self, loaded: MiniLmModel) -> MiniLmModel:
        return loaded
