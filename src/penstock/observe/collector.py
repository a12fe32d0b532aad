"""Turns a metrics snapshot into Prometheus metric families."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from penstock.observe import definitions
from penstock.observe.definitions import MetricDefinition
from penstock.observe.durations import BOUNDS
from penstock.observe.snapshot import QueueGauges, Snapshot

_EDGES = (*(str(bound) for bound in BOUNDS), "+Inf")
_Samples = Iterable[tuple[Sequence[str], float]]
"""The values of the labels, and the value."""


class SnapshotCollector(Collector):
    """Takes a snapshot at each scrape; running tasks never touch the client library."""

    def __init__(self, take: Callable[[], Snapshot]) -> None:
        self._take = take

    def collect(self) -> Iterator[Metric]:
        now = self._take()
        yield from _counters(now)
        yield _processing(now)
        yield from _queue_gauges(now.queues)
        yield _gauge(definitions.SLOTS, now.slots.items())
        yield from _inlets(now)

    def describe(self) -> Iterator[Metric]:
        """Lets a registry detect a second collector with the same names."""
        return self.collect()


def _counters(now: Snapshot) -> Iterator[Metric]:
    yield _counter(definitions.CLAIMED, now.claimed.items())
    yield _counter(definitions.COMPLETED, now.completed.items())
    yield _counter(definitions.NOTIFIED, _by_one(now.notifications))
    yield _counter(definitions.POLLED, [((), now.polled)])
    yield _counter(definitions.LEASES_LOST, [((), now.lost)])
    yield _counter(definitions.RESCUED, [((), now.rescued)])


def _inlets(now: Snapshot) -> Iterator[Metric]:
    yield _counter(definitions.INLET_MESSAGES, now.inlets.items())
    known = now.inlet_gauges
    # What this process reads itself, it knows better than the database, which is asked now and then.
    lags = {inlet: gauge.lag_seconds for inlet, gauge in known.items()} | dict(now.inlet_lags)
    yield _gauge(definitions.INLET_LAG, _by_one(lags))
    backlogs = {inlet: gauge.backlog for inlet, gauge in known.items()}
    yield _gauge(definitions.INLET_BACKLOG, _by_one(backlogs))
    silences = {inlet: gauge.silent_seconds for inlet, gauge in known.items()}
    yield _gauge(definitions.INLET_SILENT, _by_one(silences))
    counted = [
        ((inlet, outcome), count)
        for inlet, gauge in known.items()
        for outcome, count in (
            ("received", gauge.received),
            ("taken", gauge.taken),
            ("duplicate", gauge.duplicates),
            ("refused", gauge.refused),
        )
    ]
    yield _gauge(definitions.INLET_COUNTED, counted)


def _processing(now: Snapshot) -> Metric:
    defined = definitions.PROCESSING
    family = HistogramMetricFamily(defined.name, defined.meaning, labels=defined.labels)
    for job_type, (counts, total) in now.durations.items():
        buckets = list(zip(_EDGES, accumulate(counts), strict=True))
        family.add_metric([job_type], buckets, total)
    return family


def _queue_gauges(queues: QueueGauges) -> Iterator[Metric]:
    defined = definitions.DEPTH
    depth = GaugeMetricFamily(defined.name, defined.meaning, labels=defined.labels)
    for (queue, job_type), count in queues.depths.items():
        labels = {"queue": queue} if job_type is None else {"queue": queue, "job_type": job_type}
        depth.add_sample(defined.name, labels, count)
    yield depth
    yield _gauge(definitions.OLDEST_READY, _by_one(queues.oldest))
    yield _gauge(definitions.DEAD_TUPLES, [] if queues.dead_tuples is None else [((), queues.dead_tuples)])


def _counter(defined: MetricDefinition, samples: _Samples) -> Metric:
    family = CounterMetricFamily(defined.name, defined.meaning, labels=defined.labels)
    for labels, count in samples:
        family.add_metric(labels, count)
    return family


def _gauge(defined: MetricDefinition, samples: _Samples) -> Metric:
    family = GaugeMetricFamily(defined.name, defined.meaning, labels=defined.labels)
    for labels, value in samples:
        family.add_metric(labels, value)
    return family


def _by_one(values: Mapping[str, float | None]) -> _Samples:
    """Samples with one label, of those that are known."""
    return [((label,), value) for label, value in values.items() if value is not None]
