"""Counts notifications of providers by what they led to, for Prometheus."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry


class NotificationCounts:
    """Both labels are ours, so senders cannot create new series."""

    def __init__(self, registry: CollectorRegistry) -> None:
        from prometheus_client import Counter

        self._received = Counter(
            "mail_notifications",
            "Notifications of mail providers, by what they led to",
            ["provider", "outcome"],
            registry=registry,
        )

    def received(self, provider: str, outcome: str) -> None:
        self._received.labels(provider, outcome).inc()
