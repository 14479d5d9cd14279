"""The lexical store on a real Elasticsearch under the published contract."""

from collections.abc import Iterator

import pytest

from docmill.adapters.elasticsearch import ElasticsearchLexicalStore, connect_elasticsearch
from docmill.config.settings import Settings
from docmill.testing.store_contract import LexicalStoreContract
from support.elasticsearch_server import elasticsearch_url


@pytest.fixture(scope="module")
def elasticsearch_store() -> Iterator[ElasticsearchLexicalStore]:
    store = connect_elasticsearch(Settings(elasticsearch_url=elasticsearch_url()))
    yield store
    store.close()


class TestElasticsearchLexicalStore(LexicalStoreContract):
    @pytest.fixture
    def store(self, elasticsearch_store: ElasticsearchLexicalStore) -> ElasticsearchLexicalStore:
        return elasticsearch_store
