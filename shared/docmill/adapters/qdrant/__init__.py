"""Qdrant as a server: vectors that several hosts share."""

from docmill.adapters.qdrant.connecting import connect_qdrant
from docmill.adapters.qdrant.vector_store import QdrantVectorStore

__all__ = ["QdrantVectorStore", "connect_qdrant"]
