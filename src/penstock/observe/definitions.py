"""Every metric of a worker: name, kind, labels and meaning, for `/metrics` and the page about monitoring."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal


@dataclass(frozen=True, slots=True)
class MetricDefinition:
    """One metric; `meaning` is one plain sentence or two, and is the help text of a scrape."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    labels: tuple[str, ...]
    meaning: str


CLAIMED: Final = MetricDefinition(
    "job_claimed_total", "counter", ("job_type", "worker_id"), "Tasks that were claimed."
)
COMPLETED: Final = MetricDefinition(
    "job_completed_total",
    "counter",
    ("job_type", "status"),
    "Leases that were closed, by status: success, failed (will be tried again, or processed a document that"
    " failed for good), dead, snoozed, cancelled, lost (the worker no longer held it).",
)
PROCESSING: Final = MetricDefinition(
    "job_processing_seconds",
    "histogram",
    ("job_type",),
    "Time a handler took; buckets from 1 ms to 10 min.",
)
LEASES_LOST: Final = MetricDefinition(
    "job_leases_lost_total", "counter", (), "Leases this worker no longer held when it closed them."
)
RESCUED: Final = MetricDefinition(
    "job_rescued_total", "counter", (), "Tasks this worker took back from silent workers."
)
NOTIFIED: Final = MetricDefinition(
    "job_notification_received_total",
    "counter",
    ("channel",),
    "Notifications, by channel: penstock_worker (its own), penstock_ready, penstock_cancel, penstock_watch.",
)
POLLED: Final = MetricDefinition(
    "job_poll_scanned_total", "counter", (), "Number of times the worker asked for tasks."
)
DEPTH: Final = MetricDefinition(
    "job_queue_depth",
    "gauge",
    ("queue", "job_type"),
    "Ready tasks, updated every 15 s. In a queue with more than 20,000, the rest is counted as the job type"
    " other.",
)
OLDEST_READY: Final = MetricDefinition(
    "job_oldest_ready_seconds", "gauge", ("queue",), "Age of the oldest ready task."
)
DEAD_TUPLES: Final = MetricDefinition(
    "job_ready_dead_tuples", "gauge", (), "Dead rows of queues.ready that wait for vacuum."
)
SLOTS: Final = MetricDefinition(
    "job_worker_slots", "gauge", ("queue", "state"), "Slots of this worker, by state: busy and free."
)
INLET_MESSAGES: Final = MetricDefinition(
    "inlet_messages_total",
    "counter",
    ("inlet", "outcome"),
    "Messages of inlets this process read, by outcome: taken, duplicate, refused.",
)
INLET_COUNTED: Final = MetricDefinition(
    "inlet_messages_counted",
    "gauge",
    ("inlet", "outcome"),
    "Messages of every inlet that any process read, a bridge or a process of its own too, by outcome:"
    " received, taken, duplicate, refused.",
)
INLET_LAG: Final = MetricDefinition(
    "inlet_lag_seconds",
    "gauge",
    ("inlet",),
    "How long the oldest message of the last batch had waited; 0 when nothing waits. Missing if nobody knows,"
    " such as of a bridge that had no message within the last minute.",
)
INLET_BACKLOG: Final = MetricDefinition(
    "inlet_backlog",
    "gauge",
    ("inlet",),
    "Messages that wait at the sender, counted up to 10,001; missing if the sender does not say.",
)
INLET_SILENT: Final = MetricDefinition(
    "inlet_silent_seconds",
    "gauge",
    ("inlet",),
    "Time since the last message of the inlet; missing before its first.",
)

OF_WORKERS: Final = (
    CLAIMED,
    COMPLETED,
    PROCESSING,
    LEASES_LOST,
    RESCUED,
    NOTIFIED,
    POLLED,
    DEPTH,
    OLDEST_READY,
    DEAD_TUPLES,
    SLOTS,
    INLET_MESSAGES,
    INLET_COUNTED,
    INLET_LAG,
    INLET_BACKLOG,
    INLET_SILENT,
)
