"""Duties every worker shares: rescue, schedules, maintenance, gauges, and reconciling its own leases."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from penstock.db.connect import CONNECTION_LOST
from penstock.model import LeaseId
from penstock.observe import Metrics, get_logger
from penstock.queue.duty_calls import DutyCalls
from penstock.queue.lease_calls import LeaseCalls
from penstock.queue.schedule import next_tick
from penstock.worker.registration import Registration

log = get_logger(__name__)

SWEPT_AT_ONCE = 20_000
MOST_SWEEPS = 50


async def rescue(calls: DutyCalls, metrics: Metrics, rescued: Callable[[], None]) -> None:
    """Take leases back from silent workers; several workers may do this at once without conflict."""
    taken = await calls.rescue()
    if not taken:
        return
    metrics.rescued(len(taken))
    rescued()
    by_outcome = {
        outcome: sum(lost.outcome == outcome for lost in taken) for outcome in {t.outcome for t in taken}
    }
    log.warning("leases_rescued", workers=sorted({lost.worker_id for lost in taken}), **by_outcome)
    for lost in taken:
        if lost.outcome == "quarantined":
            log.error("task_quarantined", task_id=lost.task_id, worker_id=lost.worker_id)


async def fire_schedules(calls: DutyCalls) -> None:
    """Enqueue the tasks of due schedules; the database lets only one worker do it."""
    for tick in await calls.due_schedules():
        task_id = await calls.fire(tick, next_tick(tick.cron, tick.timezone, tick.clock))
        if task_id is not None:
            log.info("schedule_fired", schedule=tick.schedule, tick=tick.at.isoformat(), task_id=task_id)


async def maintain(calls: DutyCalls, completed_days: int, dead_days: int) -> None:
    """Sample the queues, create future partitions and drop history past its retention."""
    await calls.take_samples()
    # In batches: a minute of messages, weeks ago, is more than one transaction should delete.
    for _ in range(MOST_SWEEPS):
        if await calls.sweep_inlets(SWEPT_AT_ONCE) < SWEPT_AT_ONCE:
            break
    report = await calls.maintain(completed_days, dead_days)
    if report is not None and any(report.values()):
        log.info("maintained", **report)


async def read_gauges(calls: DutyCalls, metrics: Metrics) -> None:
    """Read depth and age of the queues, and the inlets; cleared while the database is unreachable."""
    try:
        metrics.set_queue_gauges(*await calls.gauges())
        metrics.set_inlet_gauges(await calls.inlet_gauges())
    except CONNECTION_LOST:
        metrics.forget_gauges()
        raise


class LeaseHolder(Protocol):
    """What the reconciler needs from the worker."""

    @property
    def registration(self) -> Registration | None: ...

    def known_leases(self) -> set[LeaseId]: ...


class LeaseReconciler:
    """Releases leases held in our name that we do not know: those of a claim whose response was lost."""

    def __init__(self, calls: DutyCalls, lease_calls: LeaseCalls, worker: LeaseHolder) -> None:
        self._calls = calls
        self._lease_calls = lease_calls
        self._worker = worker
        self._suspects: set[LeaseId] = set()

    async def run_once(self) -> None:
        """Release leases that are unknown twice in a row: in between, every close in progress has ended."""
        registration = self._worker.registration
        if registration is None:
            return
        held = set(await self._calls.open_leases(registration.worker_id))
        unknown = held - self._worker.known_leases()
        orphans = unknown & self._suspects
        self._suspects = unknown - orphans
        if orphans:
            released = await self._lease_calls.release_unknown(registration.worker_id, sorted(orphans))
            log.warning("unknown_leases_released", count=len(released))
