"""Metrics in Prometheus's text format."""

from collections.abc import Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics, generate_latest

from docmill.domain.errors import DocmillError
from docmill_services.query.backend import Backend
from docmill_services.query.status import document_counts

_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
disable_created_metrics()  # type: ignore[no-untyped-call]  # the package types its classes only
_METHODS = frozenset({"GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH"})


class Metrics:
    """The metrics of one query service."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "docmill_http_requests_total", "Requests, by method, route and status.", ["method", "route", "status"], registry=self.registry
        )
        self._searches = Histogram(
            "docmill_search_seconds", "Duration of searches.", ["knowledge_base"], buckets=_BUCKETS, registry=self.registry
        )
        self._degraded = Counter(
            "docmill_search_degraded_total",
            "Searches that a strategy could not answer.",
            ["knowledge_base", "strategy"],
            registry=self.registry,
        )
        self._documents = Gauge("docmill_documents", "Documents, by state.", ["knowledge_base", "state"], registry=self.registry)
        self._up = Gauge(
            "docmill_registry_up", "1 while the registry of a knowledge base answers.", ["knowledge_base"], registry=self.registry
        )

    def count_request(self, method: str, route: str, status: int) -> None:
        """Counts one request; ``route`` is the template, so that paths do not multiply."""
        self._requests.labels(method if method in _METHODS else "other", route, str(status)).inc()

    def observe_search(self, knowledge_base: str, seconds: float, degraded: list[str]) -> None:
        """Notes one search."""
        self._searches.labels(knowledge_base).observe(seconds)
        for strategy in degraded:
            self._degraded.labels(knowledge_base, strategy).inc()

    def exposition(self, knowledge_bases: Mapping[str, Backend]) -> bytes:
        """All metrics as text; those of documents as they are now."""
        for name, backend in knowledge_bases.items():
            try:
                counts = document_counts(backend)
            except DocmillError:
                self._up.labels(name).set(0)
                continue
            self._up.labels(name).set(1)
            for state, number in counts.documents.items():
                self._documents.labels(name, state).set(number)
        return generate_latest(self.registry)
