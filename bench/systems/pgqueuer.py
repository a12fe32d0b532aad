"""PgQueuer as its own benchmark tool drives it (asyncpg, uvloop), with the batch size that serves it best."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from typing import cast

import asyncpg
from pgqueuer import PgQueuer
from pgqueuer.db import AsyncpgDriver, AsyncpgPoolDriver
from pgqueuer.models import Job  # noqa: TC002  # PgQueuer reads the handler's annotations at run time
from pgqueuer.queries import Queries

from bench.systems import OnTask, Producer, Settings, Worker, payload_text

DEFAULTS: Settings = {
    "loop": "uvloop",
    "driver": "apg",
    "consumers": 1,
    "batch_size": 500,
    "autovacuum_tuned": True,
    "analyze": True,
    "payload_bytes": 0,
}
ENTRYPOINT = "bench_noop"


class PgQueuerProducer:
    def __init__(self, queries: Queries, settings: Settings) -> None:
        self.queries = queries
        self.text = payload_text(int(settings["payload_bytes"]))

    async def enqueue(self, sent_at: float) -> None:
        await self.queries.enqueue(ENTRYPOINT, json.dumps({"sent_at": sent_at}).encode())

    async def enqueue_many(self, count: int) -> None:
        payload = json.dumps({"sent_at": 0.0, "text": self.text}).encode()
        await self.queries.enqueue([ENTRYPOINT] * count, [payload] * count, [0] * count)


class PgQueuerWorker:
    def __init__(self, consumers: list[PgQueuer], batch_size: int) -> None:
        self.consumers = consumers
        self.batch_size = batch_size

    async def run(self, stop: asyncio.Event, *, until_empty: bool) -> None:
        # Its drain mode may wait out a dequeue timeout after the last task; the caller's stop ends the run.
        runs = asyncio.gather(*(consumer.run(batch_size=self.batch_size) for consumer in self.consumers))
        stopping = asyncio.ensure_future(stop.wait())
        await asyncio.wait((runs, stopping), return_when=asyncio.FIRST_COMPLETED)
        for consumer in self.consumers:
            consumer.shutdown.set()
        stopping.cancel()
        await runs


class Adapter:
    packages = ("pgqueuer", "asyncpg", "uvloop")
    analyze_sql: str
    unfinished_sql = "select count(*) from pgqueuer"
    claim_pattern = "%pgqueuer%skip locked%"

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.analyze_sql = "analyze" if settings["analyze"] else ""

    async def install(self, url: str) -> None:
        connection = await asyncpg.connect(url)
        queries = Queries(AsyncpgDriver(connection))
        await queries.install()
        if self.settings["autovacuum_tuned"]:
            await queries.optimize_autovacuum()
        await connection.close()

    @contextlib.asynccontextmanager
    async def producer(self, url: str, connections: int) -> AsyncIterator[Producer]:
        async with asyncpg.create_pool(url, min_size=connections, max_size=connections) as pool:
            yield PgQueuerProducer(Queries(AsyncpgPoolDriver(pool)), self.settings)

    @contextlib.asynccontextmanager
    async def worker(self, url: str, on_task: OnTask) -> AsyncIterator[Worker]:
        async with contextlib.AsyncExitStack() as stack:
            consumers = [await self.consumer(url, stack) for _ in range(int(self.settings["consumers"]))]

            async def noop(job: Job) -> None:
                on_task(job.payload)

            for consumer in consumers:
                consumer.entrypoint(ENTRYPOINT)(noop)
            yield PgQueuerWorker(consumers, int(self.settings["batch_size"]))

    async def consumer(self, url: str, stack: contextlib.AsyncExitStack) -> PgQueuer:
        if self.settings["driver"] == "apgpool":
            return PgQueuer(AsyncpgPoolDriver(await stack.enter_async_context(asyncpg.create_pool(url))))
        connection = await asyncpg.connect(url)
        stack.push_async_callback(connection.close)
        return PgQueuer(AsyncpgDriver(connection))

    def sent_at(self, payload: object) -> float:
        return float(json.loads(cast("bytes", payload))["sent_at"])
