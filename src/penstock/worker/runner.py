"""One run of one task: decode, call the handler, and pass the outcome to the closer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from time import perf_counter
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
from penstock.worker.failure import delay_from, describe, describe_payload
from penstock.worker.registration import Registration

log = get_logger(__name__)

Why: TypeAlias = Literal["cancel", "lost", "shutdown"]


@dataclass(frozen=True, slots=True)
class _Entry:
    """What a run needs of a task type, looked up once."""

    task_type: TaskType[Any]
    decode: Callable[[str], Any]
    handler: Any
    plain: bool
    """An async handler without context: the common case, and the fast one."""
    durations: Durations


class TimeLimitExceeded(Exception):
    """A run took longer than its task's time limit."""


class Runner:
    """Shared by all slots of a queue. It does 50,000 runs per second, so the common path is short."""

    def __init__(
        self,
        registry: Registry,
        closer: Closer,
        metrics: Metrics,
        pool: Callable[[], Awaitable[Pool]],
    ) -> None:
        self._closer = closer
        self._metrics = metrics
        self._pool = pool
        self._entries = {
            name: _Entry(
                task_type,
                task_type.decode,
                task_type.handler,
                task_type.is_async and not task_type.wants_context,
                Durations(),
            )
            for name, task_type in registry.types.items()
        }
        self.stopping: dict[LeaseId, Why] = {}
        """Runs whose handler is being cancelled, and why."""

    def report(self) -> None:
        """Hand the measured durations to the metrics."""
        for name, entry in self._entries.items():
            self._metrics.durations(name, *entry.durations.drain())

    async def run(self, task: asyncio.Task[Any], lease: Lease, registration: Registration) -> None:
        """Run it; whatever happens, the outcome is passed on, or the lease is known to be lost."""
        group = self._closer.group
        entry = self._entries.get(lease.task_type)
        if entry is None:
            self._fail(group, lease, _unknown_type(lease))
            return
        try:
            payload = entry.decode(lease.payload)
        except ValidationError as error:
            self._fail(group, lease, describe_payload(lease.lease_id, lease.task_type, error))
            return
        except Exception as error:  # noqa: BLE001  # a validator of the payload's type may raise anything
            self._fail(group, lease, describe(lease.lease_id, error, entry.task_type.options.retry_errors))
            return
        context: Context | None = None
        started = perf_counter()
        try:
            if entry.plain and lease.time_limit is None:
                result = await entry.handler(payload)
            else:
                if entry.task_type.wants_context:
                    context = Context(lease, registration, self._pool)
                result = await self._run_in_full(entry, payload, context, lease.time_limit)
        except (Exception, asyncio.CancelledError, SystemExit) as error:  # noqa: BLE001  # it is the run's outcome
            self._broke_off(task, group, lease, entry, error)
            return
        finally:
            entry.durations.observe(perf_counter() - started)

        if self.stopping and self.stopping.pop(lease.lease_id, None) is not None:
            # The handler swallowed its cancellation and finished.
            _uncancel(task)
        if result is None and context is None:
            done = group.done
            if not done:
                self._closer.wake()
            done.append(lease)
        else:
            self._end(group, lease, context, result)
        if self._closer.debug:
            log.debug(
                "task_completed",
                task_id=lease.task_id,
                task_type=lease.task_type,
                lease_id=lease.lease_id,
                worker_id=registration.worker_id,
                attempt=lease.attempt,
                duration_ms=round((perf_counter() - started) * 1000, 3),
            )

    def _end(self, group: Group, lease: Lease, context: Context | None, result: object) -> None:
        match result:
            case Snooze(seconds):
                delay = delay_from(seconds)
                if delay is None:
                    nonsense = ValueError(f"{result!r} is not a valid delay; use seconds")
                    group.failed.append((lease, describe(lease.lease_id, nonsense, ())))
                else:
                    group.snoozed.append((lease, delay))
            case Cancel(reason):
                group.cancelled.append((lease, reason))
            case _ if context is not None and context.closed:
                self._closer.noted(lease, context.counts_as)
            case _:
                group.done.append(lease)
        self._closer.wake()

    def _broke_off(
        self, task: asyncio.Task[Any], group: Group, lease: Lease, entry: _Entry, error: BaseException
    ) -> None:
        """If asked to stop, any error means that it did; otherwise the error is the handler's own."""
        why = self.stopping.pop(lease.lease_id, None)
        if why is not None:
            _uncancel(task)
            if why == "cancel":
                group.cancelled.append((lease, ""))
            elif why == "shutdown":
                group.released.append(lease)
            self._closer.wake()
        elif isinstance(error, LeaseLost):
            self._metrics.lost(1)
            log.warning(
                "lease_lost", task_id=lease.task_id, lease_id=lease.lease_id, task_type=lease.task_type
            )
        elif isinstance(error, asyncio.CancelledError) and task.cancelling():
            raise error  # the slot itself is being stopped
        else:
            self._fail(group, lease, describe(lease.lease_id, error, entry.task_type.options.retry_errors))

    async def _run_in_full(
        self, entry: _Entry, payload: Any, context: Context | None, limit: float | None
    ) -> object:
        """Call a handler with a context, a time limit, or as a plain function, which runs in a thread."""
        arguments = (payload,) if context is None else (payload, context)
        limited = asyncio.timeout(limit)
        try:
            async with limited:
                if entry.task_type.is_async:
                    result: object = await entry.handler(*arguments)
                    return result
                return await asyncio.to_thread(entry.handler, *arguments)
        except TimeoutError as error:
            if limited.expired():
                raise TimeLimitExceeded(f"it ran longer than its limit of {limit:g} s") from error
            raise

    def _fail(self, group: Group, lease: Lease, failure: Failure) -> None:
        group.failed.append((lease, failure))
        self._closer.wake()


def _uncancel(task: asyncio.Task[Any]) -> None:
    """Clear cancellations, since a slot outlives its cancelled runs."""
    while task.cancelling():
        task.uncancel()


def _unknown_type(lease: Lease) -> Failure:
    return Failure(
        lease.lease_id,
        "UnknownTaskType",
        f"this worker does not know task type {lease.task_type!r}; start it with the app that declares it",
        "{}",
    )
