"""Procrastinate by its async connector, with the concurrency and job deletion of its production pages."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Protocol, cast

from procrastinate import App, PsycopgConnector

from bench.systems import OnTask, Producer, Settings, Worker

DEFAULTS: Settings = {
    "loop": "uvloop",
    "concurrency": 30,
    "pool_size": 20,
    "delete_jobs": "always",
    "analyze": True,
}


class Noop(Protocol):
    """The part of Procrastinate's task a producer needs."""

    async def defer_async(self, *, sent_at: float) -> int: ...

    async def batch_defer_async(self, *task_kwargs: dict[str, float]) -> list[int]: ...


def build(url: str, pool_size: int, on_task: OnTask) -> tuple[App, Noop]:
    app = App(connector=PsycopgConnector(conninfo=url, min_size=pool_size, max_size=pool_size))

    async def noop(sent_at: float) -> None:
        on_task(sent_at)

    return app, cast("Noop", app.task(name="bench_noop")(noop))


class ProcrastinateProducer:
    def __init__(self, noop: Noop) -> None:
        self.noop = noop

    async def enqueue(self, sent_at: float) -> None:
        await self.noop.defer_async(sent_at=sent_at)

    async def enqueue_many(self, count: int) -> None:
        await self.noop.batch_defer_async(*[{"sent_at": 0.0} for _ in range(count)])


class ProcrastinateWorker:
    def __init__(self, app: App, settings: Settings) -> None:
        self.app = app
        self.settings = settings

    async def run(self, stop: asyncio.Event, *, until_empty: bool) -> None:
        work = asyncio.ensure_future(
            self.app.run_worker_async(
                queues=["default"],
                wait=not until_empty,
                concurrency=int(self.settings["concurrency"]),
                delete_jobs=str(self.settings["delete_jobs"]),
                install_signal_handlers=False,
            )
        )
        if until_empty:
            await work
            return
        stopping = asyncio.ensure_future(stop.wait())
        await asyncio.wait((work, stopping), return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        # Its documented graceful stop: the worker ends its jobs, then re-raises the cancellation.
        work.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await work


class Adapter:
    packages = ("procrastinate", "psycopg", "psycopg-pool")
    analyze_sql: str
    unfinished_sql = "select count(*) from procrastinate_jobs where status in ('todo', 'doing')"
    claim_pattern = "%procrastinate_fetch_job%"

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.analyze_sql = "analyze" if settings["analyze"] else ""

    async def install(self, url: str) -> None:
        app = App(connector=PsycopgConnector(conninfo=url, min_size=1, max_size=2))
        async with app.open_async():
            await app.schema_manager.apply_schema_async()

    @contextlib.asynccontextmanager
    async def producer(self, url: str, connections: int) -> AsyncIterator[Producer]:
        app, noop = build(url, connections, lambda payload: None)
        async with app.open_async():
            yield ProcrastinateProducer(noop)

    @contextlib.asynccontextmanager
    async def worker(self, url: str, on_task: OnTask) -> AsyncIterator[Worker]:
        app, _ = build(url, int(self.settings["pool_size"]), on_task)
        async with app.open_async():
            yield ProcrastinateWorker(app, self.settings)

    def sent_at(self, payload: object) -> float:
        return cast("float", payload)
