"""A real run: documents of some tenants through workers on an embedded Postgres, and the times of each."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import datetime
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from time import process_time

import numpy as np

from bench.documents.environment import running
from bench.documents.load import tree_seconds
from bench.documents.place import Place
from bench.documents.running_engine import admin, settled, stream
from bench.documents.sample_files import SampleFile, mixed
from bench.documents.services import QUEUE
from bench.documents.sizes import Sizes
from bench.scale.simulator import Floats, Integers
from penstock.accounts import Accounts
from penstock.db.tenancy import TenantPool
from penstock.engine.engine import Engine
from penstock.model import TenantId
from penstock.queue.operations import Operations

AT_ONCE = 8
"""Documents handed in at the same time."""
WARM = 20
"""Documents per worker that are not measured, so that the model and every parser have started."""
WARM_FROM = 1_000
"""Their place in the corpus, behind those that are measured."""
LOOK_SECONDS = 0.2

TIMES = """
select d.tenant_id, d.chunk_count, d.token_count,
  min(e.at) filter (where e.to_status = 'pending') as arrived,
  max(e.at) filter (where e.to_status = 'processing') as began,
  max(e.at) filter (where e.to_status = 'embedding') as embedding,
  max(e.at) filter (where e.to_status = 'indexed') as indexed
from ingest.document d
join ingest.document_event e using (document_id)
where d.tenant_id = any($1::uuid[])
group by d.document_id
order by began
"""


@dataclasses.dataclass(frozen=True, slots=True)
class Shape:
    """What is run: documents with their tenants and the seconds after the beginning at which they arrive."""

    workers: int
    slots: int
    files: Sequence[SampleFile]
    tenants: Sequence[int]
    offsets: Sequence[float]
    """0: waiting when the workers begin."""

    @property
    def at(self) -> Floats:
        return np.array(sorted(self.offsets))

    @property
    def tenant(self) -> Integers:
        """In the order of `at`."""
        order = sorted(range(len(self.offsets)), key=self.offsets.__getitem__)
        return np.array([self.tenants[number] for number in order])


@dataclasses.dataclass(frozen=True, slots=True)
class Seen:
    """One document: its tenant, and when it arrived, was begun, began to be embedded and was indexed."""

    tenant: int
    arrived: float
    began: float
    embedding: float
    indexed: float
    chunks: int
    tokens: int


@dataclasses.dataclass(frozen=True, slots=True)
class RealRun:
    seen: tuple[Seen, ...]
    worker_seconds: float
    """Processor time of the workers with their parsers and models."""
    database_seconds: float
    intake_seconds: float
    """Processor time of taking one document in, this process and the database together."""

    @property
    def seconds(self) -> float:
        return max(one.indexed for one in self.seen)


def corpus(start: int, count: int) -> list[SampleFile]:
    """Part of the mixed corpus; any 70 in a row have every kind in every size."""
    return mixed(Sizes(documents=count), start)


async def real_run(place: Place, shape: Shape, embedder: str, warm_documents: int = WARM) -> RealRun:
    async with (
        _workers(place, shape, embedder) as pids,
        admin(place) as connection,
        Engine(place.settings(embedder=embedder)) as engine,
    ):
        warm, *tenants = await _make_tenants(place, engine, 1 + max(shape.tenants) + 1)
        files = corpus(WARM_FROM, warm_documents * shape.workers)
        await asyncio.gather(*(_take_in(engine, warm, file) for file in files))
        await settled(connection, LOOK_SECONDS)

        def spent() -> tuple[float, float, float]:
            own = process_time()  # finer than the ticks that the kernel tells of other processes
            server = tree_seconds(place.server_pid) if place.server_pid else 0.0
            return own, sum(tree_seconds(pid) for pid in pids), server

        await Operations(connection).pause(QUEUE)
        waiting = [number for number, offset in enumerate(shape.offsets) if offset <= 0]
        before = spent()
        slots = asyncio.Semaphore(AT_ONCE)

        async def arrive(number: int) -> None:
            async with slots:
                await _take_in(engine, tenants[shape.tenants[number]], shape.files[number])

        await asyncio.gather(*(arrive(number) for number in waiting))
        between = spent()
        intake = (between[0] - before[0] + between[2] - before[2]) / len(waiting)
        began: datetime.datetime = await connection.fetchval("select clock_timestamp()")
        await Operations(connection).resume(QUEUE)
        await _trickle(shape, arrive)
        await settled(connection, LOOK_SECONDS)
        after = spent()
        rows = await connection.fetch(TIMES, tenants)
    numbers = {tenant: number for number, tenant in enumerate(tenants)}

    def since(at: datetime.datetime) -> float:
        return max(0.0, (at - began).total_seconds())

    later = len(shape.files) - len(waiting)
    return RealRun(
        seen=tuple(
            Seen(
                tenant=numbers[row["tenant_id"]],
                arrived=since(row["arrived"]),
                began=since(row["began"]),
                embedding=since(row["embedding"]),
                indexed=since(row["indexed"]),
                chunks=row["chunk_count"],
                tokens=row["token_count"],
            )
            for row in rows
        ),
        worker_seconds=after[1] - between[1],
        database_seconds=max(0.0, after[2] - between[2] - later * (between[2] - before[2]) / len(waiting)),
        intake_seconds=intake,
    )


async def _trickle(shape: Shape, arrive: Callable[[int], Awaitable[None]]) -> None:
    started = asyncio.get_running_loop().time()
    async with asyncio.TaskGroup() as group:
        for number in sorted(range(len(shape.offsets)), key=shape.offsets.__getitem__):
            if shape.offsets[number] > 0:
                await asyncio.sleep(
                    max(0.0, started + shape.offsets[number] - asyncio.get_running_loop().time())
                )
                group.create_task(_run(arrive, number))


async def _run(arrive: Callable[[int], Awaitable[None]], number: int) -> None:
    await arrive(number)


async def _take_in(engine: Engine, tenant: TenantId, file: SampleFile) -> None:
    await engine.intake.take_in(
        tenant,
        stream(file.content),
        filename=file.filename,
        declared_type=file.mime_type,
        uploaded_by="bench",
    )


async def _make_tenants(place: Place, engine: Engine, count: int) -> list[TenantId]:
    operators = await TenantPool.open(place.operator_url, application_name="bench", size=1)
    try:
        accounts = Accounts(operators, engine.settings)
        return [(await accounts.create_tenant(f"bench-{number}")).tenant_id for number in range(count)]
    finally:
        await operators.close()


@contextlib.asynccontextmanager
async def _workers(place: Place, shape: Shape, embedder: str) -> AsyncIterator[list[int]]:
    """Their process ids."""
    variables = place.variables(PENSTOCK_EMBEDDER=embedder, PENSTOCK_INGEST_CONCURRENCY=str(shape.slots))
    words = (sys.executable, "-m", "penstock", "worker")
    async with contextlib.AsyncExitStack() as stack:
        children = [
            await stack.enter_async_context(
                running("worker", words, 60.0, cwd=Path(place.folder), variables=variables)
            )
            for _ in range(shape.workers)
        ]
        yield [child.process.pid for child in children]
