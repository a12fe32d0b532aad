"""Counts notifications of providers by what they led to, for Prometheus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.observe.definitions import MetricDefinition

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

NOTIFICATIONS: Final = MetricDefinition(
    "mail_notifications_total",
    "counter",
    ("provider", "outcome"),
    "Notifications of mail providers, by what they led to: woken (a sync was asked for), pending (one was"
    " wanted already), renewing, recreating, validated; stale (the subscription has ended, or its source is"
    " paused), unknown (no such mailbox), unreadable; refused (not genuine).",
)


class NotificationCounts:
    """Both labels are ours, so senders cannot create new series."""

    def __init__(self, registry: CollectorRegistry) -> None:
        from prometheus_client import Counter

        self._received = Counter(
            NOTIFICATIONS.name, NOTIFICATIONS.meaning, NOTIFICATIONS.labels, registry=registry
        )

    def received(self, provider: str, outcome: str) -> None:
        self._received.labels(provider, outcome).inc()
