"""Penstock with a tenant, a worker and warm parsers and model in one process, as `penstock ingest` has it."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from bench.documents.counted import CountedEmbedders
from bench.documents.papers import Paper
from bench.documents.place import Job, Place
from penstock.accounts import Accounts
from penstock.db import Connection
from penstock.db.connect import connect
from penstock.db.tenancy import TenantPool
from penstock.intake import Taken
from penstock.model import TenantId
from penstock.product import Product
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
class House:
    product: Product
    tenant_id: TenantId
    embedders: CountedEmbedders
    admin: Connection

    async def take_in(
        self, papers: Sequence[Paper], metadata: Sequence[Mapping[str, Any]] = ()
    ) -> list[Taken]:
        """All papers in their order, some at a time."""
        room = asyncio.Semaphore(AT_ONCE)

        async def one(number: int, paper: Paper) -> Taken:
            async with room:
                return await self.product.intake.take_in(
                    self.tenant_id,
                    stream(paper.content),
                    filename=paper.filename,
                    declared_type=paper.mime_type,
                    uploaded_by="bench",
                    metadata=metadata[number] if metadata else None,
                )

        return await asyncio.gather(*(one(number, paper) for number, paper in enumerate(papers)))

    async def settled(self) -> None:
        await settled(self.admin)

    async def chunk_count(self) -> int:
        return int(await self.admin.fetchval("select coalesce(sum(chunk_count), 0) from ingest.document"))


@contextlib.asynccontextmanager
async def house(job: Job, **settings: Any) -> AsyncIterator[House]:
    """The whole product; the worker runs."""
    product = Product(job.settings(**settings))
    async with product, admin(job.place) as connection:
        tenant_id, _ = await make_tenant(job.place, product.settings)
        embedders = CountedEmbedders(product.embedders)
        product.embedders = embedders
        await embedders.embed_query(job.embedder, "warm")
        await product.warm()
        worker = product.app.worker(product.queues)
        await worker.start()
        try:
            yield House(product, tenant_id, embedders, connection)
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
