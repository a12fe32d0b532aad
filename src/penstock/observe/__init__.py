"""Structured logs with redaction, and metrics."""

from typing import TYPE_CHECKING

from penstock.lazy import lazy

if TYPE_CHECKING:
    from penstock.observe.durations import BOUNDS, Durations
    from penstock.observe.exposition import MetricsServer
    from penstock.observe.logs import Format, Level, Logger, configure, get_logger
    from penstock.observe.metrics import CONTENT_TYPE, Metrics, Status
    from penstock.observe.redaction import REDACTED
    from penstock.observe.throttle import Throttle

__all__ = [
    "BOUNDS",
    "CONTENT_TYPE",
    "REDACTED",
    "Durations",
    "Format",
    "Level",
    "Logger",
    "Metrics",
    "MetricsServer",
    "Status",
    "Throttle",
    "configure",
    "get_logger",
]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "durations": ["BOUNDS", "Durations"],
        "exposition": ["MetricsServer"],
        "logs": ["Format", "Level", "Logger", "configure", "get_logger"],
        "metrics": ["CONTENT_TYPE", "Metrics", "Status"],
        "redaction": ["REDACTED"],
        "throttle": ["Throttle"],
    },
)
