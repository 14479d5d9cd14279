"""The model made of hashes keeps the contract of embedding models."""

import pytest

from docmill.adapters.memory.models import HashEmbeddingModel
from docmill.testing.model_contract import EmbeddingModelContract


class TestHashEmbeddingModel(EmbeddingModelContract):
    @pytest.fixture
    def model(self) -> HashEmbeddingModel:
        return HashEmbeddingModel()

    def test_it_counts_its_calls_and_their_texts(self, model: HashEmbeddingModel) -> None:
        model.embed_passages(["a", "b", "c"])
        model.embed_query("d")
        assert (model.calls, model.texts) == (2, 4)
