"""The fast local model keeps the contract of embedding models."""

import pytest

from docmill.adapters.providers.wordllama import WordLlamaModel
from docmill.testing.model_contract import EmbeddingModelContract


class TestWordLlamaModel(EmbeddingModelContract):
    @pytest.fixture
    def model(self) -> WordLlamaModel:
        return WordLlamaModel()

    def test_an_empty_text_has_the_vector_with_equal_entries(self, model: WordLlamaModel) -> None:
        assert model.embed_query("") == [1 / 16] * 256
