"""Elasticsearch 8 and 9: the lexical store of the distributed profile."""

from docmill.adapters.elasticsearch.connecting import connect_elasticsearch
from docmill.adapters.elasticsearch.lexical_store import ElasticsearchLexicalStore

__all__ = ["ElasticsearchLexicalStore", "connect_elasticsearch"]
