"""Runs the handlers of one queue: a fixed number of slots over one buffer of prefetched leases."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from time import monotonic, perf_counter
from typing import Any, Literal, TypeAlias

from pydantic import ValidationError

from penstock.db import Pool
from penstock.errors import LeaseLost
from penstock.model import Cancel, Failure, Lease, LeaseId, Snooze
from penstock.observe import Durations, Metrics, get_logger
from penstock.queue.registry import Registry
from penstock.queue.task_type import TaskType
from penstock.worker.closer import Closer, Group
from penstock.worker.context import Context
from penstock.worker.failure import describe, describe_payload
from penstock.worker.registration import Registration

log = get_logger(__name__)

Why: TypeAlias = Literal["cancel", "lost", "shutdown"]

BREATH = 128
"""Tasks a slot runs before it lets the event loop breathe, should none of them ever wait for anything."""


class Slots:
    """Slots are long-lived tasks that take turns at the buffer; no asyncio task is made for a run."""

    def __init__(
        self,
        queue: str,
        concurrency: int,
        registry: Registry,
        closer: Closer,
        metrics: Metrics,
        pool: Callable[[], Awaitable[Pool]],
    ) -> None:
        self.queue = queue
        self.concurrency = concurrency
        self.room = asyncio.Event()
        """Set whenever the buffer is low: time to claim."""
        self.low_water = 0
        self._registry = registry
        self._closer = closer
        self._metrics = metrics
        self._pool = pool
        self._buffer: deque[Lease] = deque()
        self._running: dict[LeaseId, tuple[asyncio.Task[Any], Lease]] = {}
        self._stopping: dict[LeaseId, Why] = {}
        self._resting: deque[asyncio.Future[None]] = deque()
        self._durations: dict[str, Durations] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._registration: Registration | None = None
        self._ended = False

    @property
    def outstanding(self) -> int:
        """Leases held: prefetched and running."""
        return len(self._buffer) + len(self._running)

    def known(self) -> set[LeaseId]:
        """The leases this queue's slots hold now."""
        return {lease.lease_id for lease in self._buffer} | self._running.keys()

    def busy(self) -> int:
        return len(self._running)

    def register(self, registration: Registration) -> None:
        """Leases offered from now on belong to this registration; what ran under an older one is stopped."""
        self._registration = registration
        self._buffer.clear()
        for lease_id in list(self._running):
            self.stop_one(lease_id, "lost")

    def offer(self, leases: Sequence[Lease]) -> None:
        """Put claimed leases into the buffer and wake as many slots as there are."""
        self._buffer.extend(leases)
        for _ in range(min(len(leases), len(self._resting))):
            rest = self._resting.popleft()
            if not rest.done():
                rest.set_result(None)

    def stop_one(self, lease_id: LeaseId, why: Why) -> None:
        """End one run by cancelling its handler; a lease still in the buffer just leaves it."""
        if lease_id in self._running:
            self._stopping[lease_id] = why
            self._running[lease_id][0].cancel()
            return
        for lease in self._buffer:
            if lease.lease_id == lease_id:
                self._buffer.remove(lease)
                if why == "cancel":
                    self._closer.group.cancelled.append(lease)
                    self._closer.poke()
                return

    def hand_back(self) -> int:
        """Release what was prefetched and not started."""
        count = len(self._buffer)
        self._closer.group.released.extend(self._buffer)
        self._buffer.clear()
        if count:
            self._closer.poke()
        return count

    async def start(self) -> None:
        self._tasks = [
            asyncio.create_task(self._slot(), name=f"penstock-slot-{self.queue}-{n}")
            for n in range(self.concurrency)
        ]

    async def stop(self, grace: float) -> None:
        """Let running handlers finish within the grace, then cancel them and hand their tasks back uncharged."""
        self._ended = True
        self.hand_back()
        while self._resting:
            rest = self._resting.popleft()
            if not rest.done():
                rest.set_result(None)
        if not self._tasks:
            return
        _, pending = await asyncio.wait(self._tasks, timeout=max(grace, 0.001))
        if pending:
            self.hurry()
            _, pending = await asyncio.wait(pending, timeout=2.0)
        for task in pending:
            # A handler that swallows its cancellation: its lease goes back when the worker deregisters.
            log.warning("handler_would_not_stop", queue=self.queue)
            task.cancel()
        self.report()

    def hurry(self) -> None:
        """Cancel what runs; the tasks go back uncharged."""
        for lease_id in list(self._running):
            self.stop_one(lease_id, "shutdown")

    def report(self) -> None:
        """Hand the measured durations to the metrics."""
        for task_type, durations in self._durations.items():
            self._metrics.durations(task_type, *durations.drain())

    async def _rest(self) -> None:
        rest: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._resting.append(rest)
        await rest

    async def _slot(self) -> None:
        task = asyncio.current_task()
        assert task is not None
        buffer, running = self._buffer, self._running
        since_breath = 0
        while True:
            if not buffer:
                if self._ended:
                    return
                self.room.set()
                await self._rest()
                since_breath = 0
                continue
            lease = buffer.popleft()
            registration = self._registration
            assert registration is not None
            if monotonic() > registration.valid_until:
                # Frozen or cut off for so long that others may have taken these over: start none of them.
                log.throttled("prefetch_dropped", queue=self.queue, count=len(buffer) + 1)
                buffer.clear()
                continue
            running[lease.lease_id] = (task, lease)
            try:
                await self._run(task, lease, registration)
            finally:
                del running[lease.lease_id]
            if len(buffer) < self.low_water:
                self.room.set()
            since_breath += 1
            if since_breath >= BREATH:
                since_breath = 0
                await asyncio.sleep(0)

    async def _run(self, task: asyncio.Task[Any], lease: Lease, registration: Registration) -> None:
        group = self._closer.group
        entry = self._registry.types.get(lease.task_type)
        if entry is None:
            self._fail(
                group,
                lease,
                Failure(
                    lease.lease_id,
                    "UnknownTaskType",
                    f"this worker knows no task type {lease.task_type!r}; start it with the app that declares it",
                    "{}",
                ),
            )
            return
        try:
            payload = entry.decode(lease.payload)
        except ValidationError as error:
            self._fail(group, lease, describe_payload(lease.lease_id, lease.task_type, error))
            return
        context = Context(lease, registration.worker_id, self._pool) if entry.wants_context else None
        started = perf_counter()
        try:
            if lease.time_limit is None and entry.is_async:
                handler: Any = entry.handler
                result = await (handler(payload) if context is None else handler(payload, context))
            else:
                result = await self._run_limited(entry, payload, context, lease.time_limit)
        except asyncio.CancelledError:
            why = self._stopping.pop(lease.lease_id, None)
            if why is None:
                raise
            task.uncancel()
            if why == "cancel":
                group.cancelled.append(lease)
            elif why == "shutdown":
                group.released.append(lease)
            self._closer.poke()
            return
        except LeaseLost:
            self._metrics.lost(1)
            log.warning("lease_lost", task_id=lease.task_id, lease_id=lease.lease_id, task_type=lease.task_type)
            return
        except Exception as error:
            self._fail(group, lease, describe(lease.lease_id, error, entry.options.retry_errors))
            return
        finally:
            durations = self._durations.get(lease.task_type)
            if durations is None:
                durations = self._durations[lease.task_type] = Durations()
            durations.observe(perf_counter() - started)
        if self._stopping and self._stopping.pop(lease.lease_id, None) is not None:
            # Asked to stop in the very moment it finished: the cancellation is still on its way to this slot.
            task.uncancel()
        if result is None:
            if context is not None and context.closed:
                self._closer.noted(lease)
            else:
                group.done.append(lease)
        elif isinstance(result, Snooze):
            group.snoozed.append((lease, result.seconds))
        elif isinstance(result, Cancel):
            group.cancelled.append(lease)
        else:
            group.done.append(lease)
        self._closer.poke()
        if log.enabled_for_debug:
            log.debug(
                "task_completed",
                task_id=lease.task_id,
                task_type=lease.task_type,
                lease_id=lease.lease_id,
                worker_id=registration.worker_id,
                attempt=lease.attempt,
                duration_ms=round((perf_counter() - started) * 1000, 3),
            )

    async def _run_limited(
        self, entry: TaskType[Any], payload: Any, context: Context | None, limit: float | None
    ) -> Snooze | Cancel | None:
        """A handler with a time limit, or a plain function, which runs in a thread."""
        arguments = (payload,) if context is None else (payload, context)
        limited = asyncio.timeout(limit)
        try:
            async with limited:
                if entry.is_async:
                    handler: Any = entry.handler
                    return await handler(*arguments)  # type: ignore[no-any-return]  # a handler returns a Result
                return await asyncio.to_thread(entry.handler, *arguments)  # type: ignore[return-value]  # as above
        except TimeoutError as error:
            if limited.expired():
                raise TimeLimitExceeded(f"it ran longer than its limit of {limit:g} s") from error
            raise

    def _fail(self, group: Group, lease: Lease, failure: Failure) -> None:
        group.failed.append((lease, failure))
        self._closer.poke()


class TimeLimitExceeded(Exception):
    """A run took longer than its task's time limit."""
