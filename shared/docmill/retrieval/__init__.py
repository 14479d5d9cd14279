"""Retrieval: from a query to verified, fused hits."""
