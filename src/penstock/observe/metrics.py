"""Counts what a worker does, batch by batch, for Prometheus."""

import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, Literal

from penstock.observe.durations import BUCKETS
from penstock.observe.snapshot import InletGauge, QueueGauges, Snapshot

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

Status = Literal["success", "failed", "dead", "snoozed", "cancelled", "lost"]

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
_NAMES_KEPT = 1_000
_NAME_LIMIT = 200
_OTHER = "other"


class Metrics:
    """One per process; safe to call from any thread, meant to be called once per batch."""

    def __init__(self, worker_id: str = "") -> None:
        self.worker_id = worker_id
        self._lock = threading.Lock()
        self._names: dict[str, str] = {}
        self._claimed: dict[tuple[str, str], int] = {}
        self._completed: dict[tuple[str, str], int] = {}
        self._durations: dict[str, tuple[list[int], float]] = {}
        self._notifications: dict[str, int] = {}
        self._slots: dict[tuple[str, str], int] = {}
        self._inlets: dict[tuple[str, str], int] = {}
        self._inlet_lags: dict[str, float] = {}
        self._inlet_gauges: dict[str, InletGauge] = {}
        self._polled = self._lost = self._rescued = 0
        self._queues = QueueGauges()
        self._registry: CollectorRegistry | None = None

    def claimed(self, job_type: str, n: int = 1) -> None:
        with self._lock:
            labels = (self._name(job_type), self._name(self.worker_id))
            self._claimed[labels] = self._claimed.get(labels, 0) + n

    def completed(self, job_type: str, status: Status, n: int = 1) -> None:
        with self._lock:
            labels = (self._name(job_type), status)
            self._completed[labels] = self._completed.get(labels, 0) + n

    def durations(self, job_type: str, bucket_counts: Sequence[int], total_seconds: float) -> None:
        """Add what `Durations.drain()` gave: `metrics.durations(job_type, *durations.drain())`."""
        if len(bucket_counts) != BUCKETS:
            raise ValueError(
                f"{len(bucket_counts)} bucket counts, not {BUCKETS}; pass what Durations.drain() gave"
            )
        with self._lock:
            name = self._name(job_type)
            counts, total = self._durations.get(name, ([0] * BUCKETS, 0.0))
            added = [old + new for old, new in zip(counts, bucket_counts, strict=True)]
            self._durations[name] = (added, total + total_seconds)

    def notification(self, channel: str, n: int = 1) -> None:
        with self._lock:
            name = self._name(channel)
            self._notifications[name] = self._notifications.get(name, 0) + n

    def polled(self, n: int) -> None:
        with self._lock:
            self._polled += n

    def lost(self, n: int = 1) -> None:
        with self._lock:
            self._lost += n

    def rescued(self, n: int = 1) -> None:
        with self._lock:
            self._rescued += n

    def inlet(
        self, inlet: str, *, taken: int, duplicates: int, refused: int, lag_seconds: float | None
    ) -> None:
        with self._lock:
            name = self._name(inlet)
            for outcome, count in (("taken", taken), ("duplicate", duplicates), ("refused", refused)):
                self._inlets[name, outcome] = self._inlets.get((name, outcome), 0) + count
            if lag_seconds is not None:
                self._inlet_lags[name] = lag_seconds

    def forget_inlet_lag(self, inlet: str) -> None:
        """Show no lag: another process reads the inlet now, or none does."""
        with self._lock:
            self._inlet_lags.pop(self._name(inlet), None)

    def set_slots(self, queue: str, *, busy: int, free: int) -> None:
        with self._lock:
            name = self._name(queue)
            self._slots[name, "busy"] = busy
            self._slots[name, "free"] = free

    def set_queue_gauges(
        self,
        depths: Mapping[str, int] | Mapping[tuple[str, str], int],
        oldest: Mapping[str, float],
        dead_tuples: int | None = None,
    ) -> None:
        """Replace all queue gauges with the database's figures; depths by queue or by (queue, job type)."""
        with self._lock:
            by_type: dict[tuple[str, str | None], int] = {}
            for key, count in depths.items():
                queue, job_type = (key, None) if isinstance(key, str) else key
                place = (self._name(queue), None if job_type is None else self._name(job_type))
                by_type[place] = by_type.get(place, 0) + count
            ages: dict[str, float] = {}
            for queue, seconds in oldest.items():
                name = self._name(queue)
                ages[name] = max(seconds, ages.get(name, 0.0))
            self._queues = QueueGauges(by_type, ages, dead_tuples)

    def set_inlet_gauges(self, gauges: Mapping[str, InletGauge]) -> None:
        """Replace the gauges of all inlets with the database's figures."""
        with self._lock:
            self._inlet_gauges = {self._name(inlet): gauge for inlet, gauge in gauges.items()}

    def forget_gauges(self) -> None:
        """Show no gauges: while the database is unreachable, stale figures would look current."""
        with self._lock:
            self._queues = QueueGauges()
            self._inlet_gauges = {}

    def snapshot(self) -> Snapshot:
        with self._lock:
            return Snapshot(
                claimed=dict(self._claimed),
                completed=dict(self._completed),
                durations=dict(self._durations),
                notifications=dict(self._notifications),
                slots=dict(self._slots),
                polled=self._polled,
                lost=self._lost,
                rescued=self._rescued,
                queues=self._queues,
                inlets=dict(self._inlets),
                inlet_lags=dict(self._inlet_lags),
                inlet_gauges=self._inlet_gauges,
            )

    def registry(self) -> "CollectorRegistry":
        """Our metrics and those of the process (memory, CPU time, open files)."""
        if self._registry is None:
            # Imported here: the client takes 50 ms to import and most commands never render metrics.
            from prometheus_client import CollectorRegistry, ProcessCollector

            from penstock.observe.collector import SnapshotCollector

            registry = CollectorRegistry()
            registry.register(SnapshotCollector(self.snapshot))
            ProcessCollector(registry=registry)
            self._registry = registry
        return self._registry

    def render(self) -> bytes:
        """The Prometheus text format, of type `CONTENT_TYPE`."""
        from prometheus_client import generate_latest

        return generate_latest(self.registry())

    def _name(self, raw: str) -> str:
        # A series lives as long as the process, so the number of user-chosen names must be limited.
        name = self._names.get(raw)
        if name is None:
            if len(self._names) >= _NAMES_KEPT:
                return _OTHER
            # A lone surrogate would make every later scrape fail.
            name = raw[:_NAME_LIMIT].encode("utf-8", "replace").decode()
            self._names[raw] = name
        return name
