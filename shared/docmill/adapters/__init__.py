"""Adapters: the ports on real engines, and their twins in memory."""
