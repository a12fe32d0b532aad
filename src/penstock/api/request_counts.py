"""Counts requests by route and status for Prometheus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.observe.definitions import MetricDefinition

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

_BOUNDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
REQUESTS: Final = MetricDefinition(
    "http_requests_total", "counter", ("method", "route", "status"), "Requests that were answered."
)
SECONDS: Final = MetricDefinition(
    "http_request_seconds", "histogram", ("route",), "Time until the last byte of the response."
)


class RequestCounts:
    """Labels are the route's template, never the path, so callers cannot create new series."""

    def __init__(self, registry: CollectorRegistry) -> None:
        from prometheus_client import Counter, Histogram

        self._requests = Counter(REQUESTS.name, REQUESTS.meaning, REQUESTS.labels, registry=registry)
        self._seconds = Histogram(
            SECONDS.name, SECONDS.meaning, SECONDS.labels, registry=registry, buckets=_BOUNDS
        )

    def served(self, method: str, route: str, status: int, seconds: float) -> None:
        named = method if method in _METHODS else "other"
        self._requests.labels(named, route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)
