"""The table of metrics in docs/operate/monitoring.md, from the definitions that a scrape uses."""

from __future__ import annotations

from pathlib import Path

from penstock.api.notification_counts import NOTIFICATIONS
from penstock.api.request_counts import REQUESTS, SECONDS
from penstock.observe.definitions import OF_WORKERS, MetricDefinition
from tools.marked import cell, replaced

PAGE = Path(__file__).parents[1] / "docs" / "operate" / "monitoring.md"
METRICS = (*OF_WORKERS, REQUESTS, SECONDS, NOTIFICATIONS)


def page() -> str:
    rows = [_row(metric) for metric in METRICS]
    table = "\n".join(["| metric | type | labels | meaning |", "|---|---|---|---|", *rows])
    return replaced(PAGE, {"metrics": table})


def _row(metric: MetricDefinition) -> str:
    labels = ", ".join(f"`{label}`" for label in metric.labels)
    return f"| `{metric.name}` | {metric.kind} | {labels} | {cell(metric.meaning)} |"
