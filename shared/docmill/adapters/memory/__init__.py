"""Twins of every port in memory: for tests of everything that stands on the ports."""
