"""Penstock by its public Python interface."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any, cast
from urllib.parse import urlsplit
from uuid import UUID

from pydantic import BaseModel

from bench.systems import OnTask, Producer, Settings, Worker, payload_text
from penstock import Penstock
from penstock.db.connect import connect
from penstock.db.logins import RUNTIME, create_logins
from penstock.db.migrator import migrate
from penstock.queue.task_type import TaskType

DEFAULTS: Settings = {
    "loop": "uvloop",
    "concurrency": 100,
    "queue": "default",
    "notify": True,
    "payload_bytes": 0,
    "tenants": 0,
}


class Payload(BaseModel):
    sent_at: float
    text: str = ""


def build(
    url: str, settings: Settings, on_task: OnTask, connections: int = 10
) -> tuple[Penstock, TaskType[Any]]:
    """As its users do: at the default log level, under the login of the runtime role, metrics on."""
    address = urlsplit(url)
    runtime = address._replace(netloc=f"{RUNTIME}@{address.hostname or ''}").geturl()
    app = Penstock(
        database_url=runtime, notify=bool(settings["notify"]), pool_size=connections, metrics_port=0
    )

    @app.task("bench_noop", queue=str(settings["queue"]))
    async def noop(payload: Payload) -> None:
        on_task(payload)

    return app, noop


class PenstockProducer:
    def __init__(self, noop: TaskType[Any], settings: Settings) -> None:
        self.noop = noop
        self.text = payload_text(int(settings["payload_bytes"]))
        self.tenants = int(settings["tenants"])

    async def enqueue(self, sent_at: float) -> None:
        await self.noop.enqueue(Payload(sent_at=sent_at))

    async def enqueue_many(self, count: int) -> None:
        payloads = [Payload(sent_at=0.0, text=self.text)] * count
        if not self.tenants:
            await self.noop.enqueue_many(payloads)
            return
        share = -(-count // self.tenants)
        for first in range(0, count, share):
            tenant = UUID(int=1 + first // share)
            await self.noop.enqueue_many(payloads[first : first + share], tenant_id=tenant)


class PenstockWorker:
    def __init__(self, app: Penstock, settings: Settings) -> None:
        self.app = app
        self.settings = settings

    async def run(self, stop: asyncio.Event, *, until_empty: bool) -> None:
        work = asyncio.ensure_future(
            self.app.run_worker(
                queues=[str(self.settings["queue"])],
                concurrency=int(self.settings["concurrency"]),
                stop_when_empty=until_empty,
            )
        )
        if until_empty:
            await work
            return
        stopping = asyncio.ensure_future(stop.wait())
        await asyncio.wait((work, stopping), return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        work.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await work


class Adapter:
    packages = ("penstock", "asyncpg", "uvloop")
    analyze_sql = ""
    unfinished_sql = """
        select (select count(*) from queues.ready)
             + (select count(*) from queues.lease)
             + (select count(*) from queues.waiting)
    """
    claim_pattern = "%queues.claim(%"

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    async def install(self, url: str) -> None:
        connection = await connect(url)
        await migrate(connection)
        await create_logins(connection)
        await connection.close()

    @contextlib.asynccontextmanager
    async def producer(self, url: str, connections: int) -> AsyncIterator[Producer]:
        app, noop = build(url, self.settings, lambda payload: None, connections)
        async with app:
            yield PenstockProducer(noop, self.settings)

    @contextlib.asynccontextmanager
    async def worker(self, url: str, on_task: OnTask) -> AsyncIterator[Worker]:
        app, _ = build(url, self.settings, on_task)
        async with app:
            yield PenstockWorker(app, self.settings)

    def sent_at(self, payload: object) -> float:
        return cast("Payload", payload).sent_at
