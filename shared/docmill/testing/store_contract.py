"""The stores' contract suites: subclass the one for your kind of store, override its ``store`` fixture, and run pytest."""

from docmill.testing.chunk_store_contract import STRATEGY, ChunkStoreContract, chunk, found_ids
from docmill.testing.lexical_store_contract import LexicalStoreContract
from docmill.testing.vector_store_contract import VectorStoreContract

__all__ = ["STRATEGY", "ChunkStoreContract", "LexicalStoreContract", "VectorStoreContract", "chunk", "found_ids"]
