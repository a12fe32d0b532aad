"""Group completion: leases that end while the last group is being closed form the next group."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from time import monotonic

from penstock.db.connect import CONNECTION_LOST
from penstock.model import Failure, Lease, LeaseId, WorkerId
from penstock.observe import Metrics, get_logger
from penstock.queue.lease_calls import LeaseCalls
from penstock.worker.service_task import ServiceTask

log = get_logger(__name__)

LARGEST_GROUP = 2_000
SUMMARY_SECONDS = 1.0


@dataclass(slots=True)
class Group:
    """Leases to close for one registration of the worker."""

    worker_id: WorkerId
    done: list[Lease] = field(default_factory=list)
    failed: list[tuple[Lease, Failure]] = field(default_factory=list)
    snoozed: list[tuple[Lease, float]] = field(default_factory=list)
    cancelled: list[tuple[Lease, str]] = field(default_factory=list)
    released: list[Lease] = field(default_factory=list)
    unanswered: set[LeaseId] = field(default_factory=set)
    """Sent on a connection that broke: they may already be closed."""

    def leases(self) -> Iterator[Lease]:
        yield from self.done
        yield from (lease for lease, _ in self.failed)
        yield from (lease for lease, _ in self.snoozed)
        yield from (lease for lease, _ in self.cancelled)
        yield from self.released

    def __bool__(self) -> bool:
        return bool(self.done or self.failed or self.snoozed or self.cancelled or self.released)


class Closer:
    """Accepts ended runs from the slots without blocking, and closes their leases in groups."""

    def __init__(
        self,
        lease_calls: LeaseCalls,
        metrics: Metrics,
        closed: Callable[[Sequence[Lease], bool], None],
        announced: Callable[[Sequence[Lease]], None] = lambda _: None,
    ) -> None:
        self._lease_calls = lease_calls
        self._metrics = metrics
        self._tell_closed = closed
        """Called with the leases of each group; True if keys were freed or tasks put back."""
        self._announced = announced
        self._groups: list[Group] = []
        self._wake = asyncio.Event()
        self._settled = asyncio.Event()
        self._settled.set()
        self._task = ServiceTask()
        self._closed = 0
        self._summary_at = 0.0
        self.total = 0
        self.debug = log.enabled_for_debug
        """Whether each run logs a line; checked once per group, because checking is expensive."""

    def register(self, worker_id: WorkerId) -> None:
        """New leases belong to this registration; runs of an older one still close under theirs."""
        self._groups.append(Group(worker_id))

    @property
    def group(self) -> Group:
        return self._groups[-1]

    def wake(self) -> None:
        """Call after putting something into `group`."""
        self._wake.set()

    def noted(self, lease: Lease, status: str = "success") -> None:
        """Count a run that closed its own lease in a transaction."""
        self._count(self.group, [lease], [lease.lease_id], status)

    def pending(self) -> set[LeaseId]:
        """The leases that wait to be closed."""
        return {lease.lease_id for group in self._groups for lease in group.leases()}

    async def start(self) -> None:
        self._task.start(self._run(), "closer")

    async def flush(self, timeout: float) -> None:
        """Wait until all waiting leases are closed, or the time is up."""
        if not self._task.started:
            return
        self._settled.clear()
        self._wake.set()
        try:
            await asyncio.wait_for(self._settled.wait(), timeout)
        except TimeoutError:
            log.warning("closes_left", count=sum(len(group.done) for group in self._groups))

    async def stop(self) -> None:
        await self._task.stop()
        self._summarise(force=True)

    async def _run(self) -> None:
        while True:
            if not any(self._groups):
                self._settled.set()
                await self._wake.wait()
            self._wake.clear()
            self.debug = log.enabled_for_debug
            for group in list(self._groups):
                try:
                    await self._close(group)
                except CONNECTION_LOST as error:
                    log.throttled("database_lost", duty="closer", error=error)
                    group.unanswered.update(lease.lease_id for lease in group.leases())
                    await asyncio.sleep(0.05)
                    self._wake.set()
                except Exception as error:  # noqa: BLE001  # kept and retried; it is logged
                    log.throttled("close_failed", level="error", error=error)
                    await asyncio.sleep(1.0)
                    self._wake.set()
            self._summarise()

    async def _close(self, group: Group) -> None:
        """Leases leave the group only when closed: the fence makes closing one twice harmless."""
        if group.done:
            batch = group.done[:LARGEST_GROUP]
            closed = await self._lease_calls.complete(group.worker_id, batch)
            del group.done[: len(batch)]
            self._count(group, batch, closed, "success")
        if group.failed:
            failures = group.failed[:LARGEST_GROUP]
            verdicts = await self._lease_calls.fail(group.worker_id, failures)
            del group.failed[: len(failures)]
            leases = {lease.lease_id: (lease, failure) for lease, failure in failures}
            for verdict in verdicts:
                lease, failure = leases[verdict.lease_id]
                self._failed(group.worker_id, lease, failure, verdict.outcome, str(verdict.retry_at))
            failed = [lease for lease, _ in failures]
            self._announced(failed)
            self._tell_closed(failed, True)
        if group.snoozed:
            snoozes = group.snoozed[:LARGEST_GROUP]
            closed = await self._lease_calls.snooze(group.worker_id, snoozes)
            del group.snoozed[: len(snoozes)]
            snoozed = [lease for lease, _ in snoozes]
            self._count(group, snoozed, closed, "snoozed")
            self._tell_closed(snoozed, True)
        if group.cancelled:
            cancels = group.cancelled[:LARGEST_GROUP]
            closed = await self._lease_calls.cancelled(group.worker_id, cancels)
            del group.cancelled[: len(cancels)]
            self._count(group, [lease for lease, _ in cancels], closed, "cancelled")
        if group.released:
            batch = group.released[:LARGEST_GROUP]
            await self._lease_calls.release(group.worker_id, batch)
            del group.released[: len(batch)]

    def _count(self, group: Group, batch: Sequence[Lease], closed: Sequence[LeaseId], status: str) -> None:
        if len(closed) < len(batch):
            kept = set(closed) | group.unanswered
            lost = [lease for lease in batch if lease.lease_id not in kept]
            batch = [lease for lease in batch if lease.lease_id in kept]
            self._metrics.lost(len(lost))
            for task_type, count in Counter(lease.task_type for lease in lost).items():
                self._metrics.completed(task_type, "lost", count)
            for lease in lost:
                log.warning(
                    "lease_lost", task_id=lease.task_id, lease_id=lease.lease_id, task_type=lease.task_type
                )
        for task_type, count in Counter(lease.task_type for lease in batch).items():
            self._metrics.completed(task_type, status, count)  # type: ignore[arg-type]  # the callers name a Status
        group.unanswered.clear()
        self._announced(batch)
        self._closed += len(batch)
        self.total += len(batch)
        self._tell_closed(batch, any(lease.held or lease.losses > 1 for lease in batch))

    def _failed(
        self, worker_id: WorkerId, lease: Lease, failure: Failure, outcome: str, retry_at: str
    ) -> None:
        if outcome == "gone":
            self._metrics.lost(1)
        else:
            self.total += 1
            self._metrics.completed(
                lease.task_type,
                {"dead": "dead", "cancelled": "cancelled"}.get(outcome, "failed"),  # type: ignore[arg-type]  # a Status
            )
        log.info(
            "task_failed",
            task_id=lease.task_id,
            task_type=lease.task_type,
            lease_id=lease.lease_id,
            worker_id=worker_id,
            attempt=lease.attempt,
            error_code=failure.code,
            error_message=_message(lease, failure),
            error_traceback=json.loads(failure.details).get("frames", []),
            will_retry=outcome == "retry",
            outcome=outcome,
            retry_at=retry_at if outcome == "retry" else None,
        )

    def _summarise(self, force: bool = False) -> None:
        """One line per second instead of per batch: batches come every few milliseconds."""
        now = monotonic()
        if self._closed and (force or now - self._summary_at >= SUMMARY_SECONDS):
            log.info("tasks_closed", count=self._closed)
            self._closed = 0
            self._summary_at = now


def _message(lease: Lease, failure: Failure) -> str:
    """What may be logged: the error of a tenant's task may quote its data, and logs outlive the tenant."""
    if lease.tenant_id is not None:
        return f"penstock task show {lease.task_id} shows the message"
    return failure.message.partition("\n")[0]  # the following lines of a database error contain data
