"""The embedded stores under the published contracts."""

from collections.abc import Iterator

import pytest

from docmill.adapters.embedded.lexical_store import EmbeddedLexicalStore
from docmill.adapters.embedded.vector_store import EmbeddedVectorStore
from docmill.testing.store_contract import LexicalStoreContract, VectorStoreContract


@pytest.fixture(scope="module")
def vector_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedVectorStore]:
    store = EmbeddedVectorStore(tmp_path_factory.mktemp("vectors"))
    yield store
    store.close()


@pytest.fixture(scope="module")
def lexical_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedLexicalStore]:
    store = EmbeddedLexicalStore(tmp_path_factory.mktemp("lexical"))
    yield store
    store.close()


class TestEmbeddedVectorStore(VectorStoreContract):
    @pytest.fixture
    def store(self, vector_store: EmbeddedVectorStore) -> EmbeddedVectorStore:
        return vector_store


class TestEmbeddedLexicalStore(LexicalStoreContract):
    @pytest.fixture
    def store(self, lexical_store: EmbeddedLexicalStore) -> EmbeddedLexicalStore:
        return lexical_store
