"""Chunking: cuts a loaded document into chunks; pure."""
