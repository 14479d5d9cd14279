"""Telemetry: logs and metrics."""
