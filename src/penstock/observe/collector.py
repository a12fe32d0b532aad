"""Turns a metrics snapshot into Prometheus metric families."""

from collections.abc import Callable, Iterator
from itertools import accumulate

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from penstock.observe.durations import BOUNDS
from penstock.observe.snapshot import QueueGauges, Snapshot

_EDGES = (*(str(bound) for bound in BOUNDS), "+Inf")


class SnapshotCollector(Collector):
    """Takes a snapshot at each scrape; running tasks never touch the client library."""

    def __init__(self, take: Callable[[], Snapshot]) -> None:
        self._take = take

    def collect(self) -> Iterator[Metric]:
        now = self._take()
        yield from _counters(now)
        yield _processing(now)
        yield from _queue_gauges(now.queues)
        slots = GaugeMetricFamily("job_worker_slots", "Task slots of this worker", labels=["queue", "state"])
        for labels, count in now.slots.items():
            slots.add_metric(labels, count)
        yield slots

    def describe(self) -> Iterator[Metric]:
        """Lets a registry detect a second collector with the same names."""
        return self.collect()


def _counters(now: Snapshot) -> Iterator[Metric]:
    claimed = CounterMetricFamily("job_claimed", "Tasks claimed", labels=["job_type", "worker_id"])
    for labels, count in now.claimed.items():
        claimed.add_metric(labels, count)
    yield claimed
    completed = CounterMetricFamily("job_completed", "Leases closed", labels=["job_type", "status"])
    for labels, count in now.completed.items():
        completed.add_metric(labels, count)
    yield completed
    received = CounterMetricFamily("job_notification_received", "Notifications received", labels=["channel"])
    for channel, count in now.notifications.items():
        received.add_metric([channel], count)
    yield received
    yield CounterMetricFamily("job_poll_scanned", "Searches for claimable tasks", now.polled)
    yield CounterMetricFamily("job_leases_lost", "Leases lost before this worker closed them", now.lost)
    yield CounterMetricFamily("job_rescued", "Tasks taken back from silent workers", now.rescued)


def _processing(now: Snapshot) -> Metric:
    family = HistogramMetricFamily("job_processing_seconds", "Run time of task handlers", labels=["job_type"])
    for job_type, (counts, total) in now.durations.items():
        buckets = list(zip(_EDGES, accumulate(counts), strict=True))
        family.add_metric([job_type], buckets, total)
    return family


def _queue_gauges(queues: QueueGauges) -> Iterator[Metric]:
    depth = GaugeMetricFamily("job_queue_depth", "Tasks ready to be claimed")
    for (queue, job_type), count in queues.depths.items():
        labels = {"queue": queue} if job_type is None else {"queue": queue, "job_type": job_type}
        depth.add_sample("job_queue_depth", labels, count)
    yield depth
    oldest = GaugeMetricFamily("job_oldest_ready_seconds", "Age of the oldest ready task", labels=["queue"])
    for queue, seconds in queues.oldest.items():
        oldest.add_metric([queue], seconds)
    yield oldest
    dead = GaugeMetricFamily("job_ready_dead_tuples", "Dead rows in the ready table, waiting for vacuum")
    if queues.dead_tuples is not None:
        dead.add_metric([], queues.dead_tuples)
    yield dead
