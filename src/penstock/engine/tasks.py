"""Declares task types and schedules, enqueues, and runs workers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar, overload

from penstock.db import Connection, Pool
from penstock.db.addresses import Addresses, prepare, resolve
from penstock.db.connect import assert_safe_role, create_pool
from penstock.db.migrator import assert_migrated
from penstock.db.reconnecting import ReconnectingConnection
from penstock.engine.signals import StopSignals
from penstock.errors import InvalidArgument
from penstock.model import Exponential, QueueName, RetryPolicy
from penstock.observe import Metrics, MetricsServer, get_logger
from penstock.queue.duty_calls import DutyCalls
from penstock.queue.registry import Registry
from penstock.queue.schedule import Schedule
from penstock.queue.task_type import Handler, OnDuplicate, Result, TaskOptions, TaskType
from penstock.settings import Settings, unknown_variables
from penstock.worker import Context, Worker, WorkerOptions
from penstock.worker.options import Service

if TYPE_CHECKING:
    from penstock.engine.own_channels import OwnChannels
    from penstock.inlets.keeper import Keeper
    from penstock.processes.channels.channel import Channel

log = get_logger(__name__)

P = TypeVar("P")
C = TypeVar("C", bound="type[Channel]")


class Declares(Protocol):
    """The decorator that `app.task(...)` returns; the payload's type is that of the handler's first
    parameter."""

    @overload
    def __call__(self, handler: Callable[[P], Awaitable[Result] | Result]) -> TaskType[P]: ...

    @overload
    def __call__(self, handler: Callable[[P, Context], Awaitable[Result] | Result]) -> TaskType[P]: ...


class Tasks:
    """Task types with the connections they need; Penstock is one, and the engine has one for documents."""

    def __init__(self, settings: Settings | None = None, **overrides: Any) -> None:
        self.settings = settings or Settings(**overrides)
        """The settings with the overrides."""
        self.registry = Registry()
        """The task types and schedules that were declared."""
        self.reserve: dict[str, int] = {}
        """Per queue: tasks a worker may run beyond its slots, each of a tenant that has none running
        there."""
        self.services: dict[str, Callable[[], Service]] = {}
        """What runs beside every worker that serves a queue."""
        self._channels: OwnChannels | None = None
        self._addresses: Addresses | None = None
        self._pool: Pool | None = None
        self._producers: Pool | None = None

    def task(
        self,
        name: str | None = None,
        *,
        queue: str = "default",
        priority: int = 5,
        max_attempts: int = 5,
        max_losses: int = 3,
        retry: RetryPolicy | None = None,
        retry_errors: Mapping[type[BaseException] | str, RetryPolicy] | None = None,
        on_duplicate: OnDuplicate = "skip",
        time_limit: timedelta | float | None = None,
    ) -> Declares:
        """Declare the decorated handler(payload) or handler(payload, ctx) as a task type.

        The payload's annotation is its type. `retry_errors` sets retry policies for specific exception
        classes.
        """
        options = TaskOptions(
            queue=QueueName(queue),
            priority=priority,
            max_attempts=max_attempts,
            max_losses=max_losses,
            retry=retry or Exponential(),
            retry_errors={
                error if isinstance(error, str) else error.__name__: policy
                for error, policy in (retry_errors or {}).items()
            },
            on_duplicate=on_duplicate,
            time_limit=timedelta(seconds=time_limit) if isinstance(time_limit, int | float) else time_limit,
        )

        def declare(handler: Handler) -> TaskType[Any]:
            named = name or str(getattr(handler, "__name__", ""))
            task_type: TaskType[Any] = TaskType(named, handler, options, self._producer)
            self.registry.add(task_type)
            return task_type

        return declare

    def channel(self, name: str) -> Callable[[C], C]:
        """Declare the decorated class as a channel of supervised processes, in a queue of the same name.

        The class is instantiated without arguments when the app opens. Its optional attribute `concurrency`
        is how many attempts run at once in one worker; its optional method `close` is called when the app
        closes.
        """
        from penstock.engine.own_channels import OwnChannels

        channels = self._channels = self._channels or OwnChannels()

        def declare(made: C) -> C:
            channels.add(name, made)

            @self.task(name, queue=name, retry=Exponential(base=1, factor=4))
            async def attempt(payload: dict[str, Any], ctx: Context) -> None:
                await channels.attempt(name, payload, ctx)

            return made

        return declare

    def schedule(
        self,
        cron: str,
        task_type: TaskType[Any],
        payload: Any = None,
        *,
        name: str | None = None,
        timezone: str = "UTC",
        queue: str | None = None,
        priority: int | None = None,
    ) -> Schedule:
        """Enqueue a task at each tick of a cron expression (five fields, or @hourly and the like)."""
        schedule = Schedule(
            name=name or task_type.name,
            cron=cron,
            task_type=task_type.name,
            payload=task_type.encode([{} if payload is None else payload])[1:-1],
            timezone=timezone,
            queue=queue,
            priority=priority,
        )
        self.registry.add_schedule(schedule)
        return schedule

    @property
    def is_open(self) -> bool:
        """Whether it is connected."""
        return self._addresses is not None

    @property
    def addresses(self) -> Addresses:
        """Where this app connects; it must be open."""
        if self._addresses is None:
            raise InvalidArgument("the app is not open", "app", "Write: async with app: …")
        return self._addresses

    async def open(self) -> None:
        """Connect; the embedded server is also started and migrated. Declares the task types."""
        if self._addresses is not None:
            return
        for name, nearest in unknown_variables().items():
            log.warning("setting_unknown", variable=name, nearest=nearest)
        self._addresses = await asyncio.to_thread(resolve, self.settings)
        try:
            await self._connect(self._addresses)
        except BaseException:
            await self.close()
            raise

    async def _connect(self, addresses: Addresses) -> None:
        if addresses.embedded is not None:
            await prepare(addresses)
        size, cache = self.settings.pool_size, self.settings.statement_cache
        self._pool = await create_pool(
            addresses.runtime,
            application_name="penstock app",
            min_size=0,
            max_size=size,
            statement_cache_size=cache,
        )
        # A single enqueue is one call on one of these: no BEGIN, no COMMIT, no reset.
        self._producers = await create_pool(
            addresses.runtime,
            application_name="penstock enqueue",
            min_size=0,
            max_size=size,
            tidy=False,
            statement_cache_size=cache,
        )
        async with self._pool.acquire() as connection:
            await assert_safe_role(connection)
            await assert_migrated(connection, folders=addresses.folders)
        line = ReconnectingConnection(
            addresses.runtime, application_name="penstock app", statement_cache=cache
        )
        try:
            calls = DutyCalls(line)
            if await calls.may_declare():
                await calls.declare(self.registry.types.values())
        finally:
            await line.close()
        if self._channels is not None:
            await self._channels.open(addresses.runtime, self.settings)

    async def close(self) -> None:
        """Release the connections; the embedded server stops if nothing else uses it."""
        if self._channels is not None:
            await self._channels.close()
        pools = [pool for pool in (self._pool, self._producers) if pool is not None]
        self._pool = self._producers = None
        addresses, self._addresses = self._addresses, None
        for pool in pools:
            await pool.close()
        if addresses is not None and addresses.embedded is not None:
            await asyncio.to_thread(addresses.embedded.release, stop_when_last=True)

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Connection]:
        """A connection of the app's pool in a transaction."""
        if self._pool is None:
            raise InvalidArgument("the app is not open", "app", "Write: async with app: …")
        async with self._pool.acquire() as connection, connection.transaction():
            yield connection

    def _producer(self) -> AbstractAsyncContextManager[Connection]:
        if self._producers is None:
            raise InvalidArgument("the app is not open", "app", "Write: async with app: …")
        return self._producers.acquire()

    def worker(
        self,
        queues: Sequence[str] | Mapping[str, int] | None = None,
        *,
        concurrency: int | None = None,
        name: str | None = None,
        metrics: Metrics | None = None,
        owns_process: bool = False,
        inlets: bool = True,
    ) -> Worker:
        """A worker for some queues (default: all queues of the task types), not yet started.

        With `owns_process`, it exits the process with code 75 when a handler has blocked the event loop for
        PENSTOCK_STALL_SECONDS; otherwise it gives up its leases and registers again when the loop answers.
        `inlets`: whether it also moves the messages of inlets that no other worker holds.
        """
        slots = concurrency or self.settings.concurrency
        names = queues if queues is not None else (self.registry.queues() or ["default"])
        wanted = dict(names) if isinstance(names, Mapping) else dict.fromkeys(names, slots)
        if queues is None and concurrency is None and self._channels is not None:
            wanted |= self._channels.slots
        services = tuple(make() for queue, make in self.services.items() if queue in wanted)
        options = WorkerOptions(wanted, owns_process=owns_process, reserve=self.reserve, services=services)
        if name is not None:
            options = replace(options, name=name)
        if inlets:
            metrics = metrics or Metrics()
            options = replace(options, inlets=self._keeper(options.name, metrics))
        return Worker(
            self.registry, self.settings, self.addresses.runtime, self.addresses.listen, options, metrics
        )

    def _keeper(self, holder: str, metrics: Metrics) -> Keeper:
        from penstock.inlets.keeper import Keeper
        from penstock.inlets.register import Surroundings

        around = Surroundings(self.settings, self.addresses.runtime, self.addresses.listen)
        return Keeper(around, holder, seconds=self.settings.lease_seconds, metrics=metrics)

    async def run_worker(
        self,
        queues: Sequence[str] | Mapping[str, int] | None = None,
        *,
        concurrency: int | None = None,
        name: str | None = None,
        stop_when_empty: bool = False,
        owns_process: bool = False,
        inlets: bool | None = None,
    ) -> int:
        """Work until SIGTERM, SIGINT, or an operator who stops it (or until the queues are empty), and return
        how many tasks were closed.

        The first signal shuts it down gracefully within the grace period; the second hands all tasks back at
        once. `owns_process` as in `worker()`; `inlets` too, by default unless it stops when the queues are
        empty.
        """
        await self.open()
        metrics = Metrics()
        worker = self.worker(
            queues,
            concurrency=concurrency,
            name=name,
            metrics=metrics,
            owns_process=owns_process,
            inlets=not stop_when_empty if inlets is None else inlets,
        )
        server = None
        if self.settings.metrics_port is not None:
            server = MetricsServer(
                metrics,
                self.settings.metrics_port,
                self.settings.metrics_host,
                healthy=lambda: worker.registration is not None and worker.registration.valid,
            )
            await server.start()
            log.info("metrics_served", port=server.port)
        stopping = asyncio.Event()
        hurrying = asyncio.Event()
        waits: list[asyncio.Task[Any]] = []
        with StopSignals(stopping, hurrying):
            try:
                await worker.start()
                waits.append(asyncio.create_task(stopping.wait()))
                waits.append(asyncio.create_task(worker.asked_to_stop.wait()))
                if stop_when_empty:
                    waits.append(asyncio.create_task(worker.wait_empty()))
                await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for wait in waits:
                    wait.cancel()
                await _stop(worker, hurrying)
                if server is not None:
                    await server.stop()
        return worker.closed_total


async def _stop(worker: Worker, hurrying: asyncio.Event) -> None:
    ending = asyncio.create_task(worker.stop())
    hurry = asyncio.create_task(hurrying.wait())
    await asyncio.wait([ending, hurry], return_when=asyncio.FIRST_COMPLETED)
    if not ending.done():
        worker.hurry()
    hurry.cancel()
    await ending
