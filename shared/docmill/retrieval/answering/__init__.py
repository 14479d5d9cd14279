"""Answering: from what a search found to a text that cites it."""
