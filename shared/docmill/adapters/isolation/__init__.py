"""Isolation in child processes: a child works on one document after the other, and its end is nobody else's."""

from docmill.adapters.isolation.processes import ProcessIsolation

__all__ = ["ProcessIsolation"]
