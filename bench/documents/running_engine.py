"""Penstock with a tenant, a worker and warm parsers and model in one process, as `penstock ingest` has it."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from bench.documents.counted import CountedEmbedders
from bench.documents.place import Job, Place
from bench.documents.sample_files import SampleFile
from penstock.accounts import Accounts
from penstock.db import Connection
from penstock.db.connect import connect
from penstock.db.tenancy import TenantPool
from penstock.documents.rows import Taken
from penstock.engine.engine import Engine
from penstock.model import TenantId
from penstock.settings import Settings

LOOK_SECONDS = 0.05
AT_ONCE = 8
"""Documents handed in at the same time."""

BY_STATUS = """
select status::text, count(*)
from ingest.document
where deleted_at is null
group by status
"""
REASONS = """
select distinct filename, reason_code, error_message
from ingest.document
where status in ('failed', 'skipped')
"""
ENDED = {"indexed", "failed", "skipped"}


class NotIndexed(Exception):
    """A figure of documents that were not indexed would say nothing."""


@dataclasses.dataclass(frozen=True, slots=True)
class RunningEngine:
    engine: Engine
    tenant_id: TenantId
    embedders: CountedEmbedders
    admin: Connection

    async def take_in(
        self, files: Sequence[SampleFile], metadata: Sequence[Mapping[str, Any]] = ()
    ) -> list[Taken]:
        """All files in their order, some at a time."""
        slots = asyncio.Semaphore(AT_ONCE)

        async def one(number: int, file: SampleFile) -> Taken:
            async with slots:
                return await self.engine.intake.take_in(
                    self.tenant_id,
                    stream(file.content),
                    filename=file.filename,
                    declared_type=file.mime_type,
                    uploaded_by="bench",
                    metadata=metadata[number] if metadata else None,
                )

        return await asyncio.gather(*(one(number, file) for number, file in enumerate(files)))

    async def settled(self) -> None:
        await settled(self.admin)

    async def chunk_count(self) -> int:
        return int(await self.admin.fetchval("select coalesce(sum(chunk_count), 0) from ingest.document"))


@contextlib.asynccontextmanager
async def running_engine(job: Job, **settings: Any) -> AsyncIterator[RunningEngine]:
    """The whole engine; the worker runs."""
    engine = Engine(job.settings(**settings))
    async with engine, admin(job.place) as connection:
        tenant_id, _ = await make_tenant(job.place, engine.settings)
        embedders = CountedEmbedders(engine.embedders)
        engine.embedders = embedders
        await embedders.embed_query(job.embedder, "warm")
        await engine.warm()
        worker = engine.tasks.worker(engine.queues)
        await worker.start()
        try:
            yield RunningEngine(engine, tenant_id, embedders, connection)
        finally:
            await worker.stop()


async def make_tenant(place: Place, settings: Settings) -> tuple[TenantId, str]:
    """A tenant and a key that may do everything, at a rate the benchmark does not reach."""
    operators = await TenantPool.open(place.operator_url, application_name="bench", size=1)
    try:
        accounts = Accounts(operators, settings)
        tenant = await accounts.create_tenant("bench", requests_per_minute=1_000_000)
        key = await accounts.create_key(tenant.tenant_id, "bench", ["admin"])
        return tenant.tenant_id, key.secret
    finally:
        await operators.close()


@contextlib.asynccontextmanager
async def admin(place: Place) -> AsyncIterator[Connection]:
    connection = await connect(place.admin_url, application_name="bench")
    try:
        yield connection
    finally:
        await connection.close()


async def settled(connection: Connection, look_seconds: float = LOOK_SECONDS) -> None:
    """Wait until every document is at its end; any end but indexed is an error."""
    while True:
        counts = {row[0]: row[1] for row in await connection.fetch(BY_STATUS)}
        if counts.keys() <= ENDED:
            break
        await asyncio.sleep(look_seconds)
    if counts.keys() - {"indexed"}:
        raise NotIndexed([dict(row) for row in await connection.fetch(REASONS)])


async def stream(content: bytes) -> AsyncIterator[bytes]:
    yield content
