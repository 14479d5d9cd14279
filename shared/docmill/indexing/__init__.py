"""Indexing: what happens to one document, from its bytes to a commit, and what cleans up behind it."""
