"""Benchmarks: figures for the README and the reference, each printed by a command."""
