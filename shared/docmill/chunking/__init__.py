"""Chunking: cuts a loaded document into chunks; pure."""

from docmill.chunking.chunker import chunk

__all__ = ["chunk"]
