"""Composition root: the only place that picks adapters."""
