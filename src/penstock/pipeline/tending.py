"""Looks after documents and processes every minute: settles the stranded, tends the index, drops orphans."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from pydantic import BaseModel, ConfigDict

from penstock.db.tenancy import TenantPool
from penstock.observe import get_logger
from penstock.pipeline.ports import BlobStore, TendsIndex

log = get_logger(__name__)

ORPHAN_AGE = timedelta(hours=1)
"""No intake takes so long between writing a blob and committing it."""


class TendDocuments(BaseModel):
    """The payload of `tend-documents`: nothing."""

    model_config = ConfigDict(frozen=True)


class Tending:
    """The handler of the schedule; each step is short and safe to run twice or beside itself."""

    def __init__(self, tenants: TenantPool, blobs: BlobStore, index: TendsIndex) -> None:
        self._tenants = tenants
        self._blobs = blobs
        self._index = index

    async def __call__(self, payload: TendDocuments) -> None:
        async with self._tenants.everyone() as conn:
            settled = await conn.fetchval("select keeping.settle_documents()")
            swept = await conn.fetchval("select keeping.sweep_processes()")
            started = await conn.fetchval("select keeping.start_file_deletions()")
            await conn.execute("select keeping.forget_old()")
        await self._index.tend()
        orphans = await self.remove_orphans()
        if settled or started or orphans:
            log.info("documents_tended", settled=settled, file_deletions=started, orphan_blobs=orphans)
        if swept:
            log.warning("processes_swept", count=swept)

    async def remove_orphans(self, age: timedelta = ORPHAN_AGE) -> int:
        """Blobs that no document has: their process died before it committed."""
        removed = 0
        async for paths in self._blobs.older_than(datetime.now(UTC) - age):
            async with self._tenants.everyone() as conn:
                unknown = await conn.fetch("select keeping.unknown_blobs($1)", paths)
            for row in unknown:
                await self._blobs.delete(row[0])
                removed += 1
        return removed
