"""Looks after documents and processes every minute: settles the stranded, tends the index, drops orphans."""

from __future__ import annotations

from datetime import timedelta

from pydantic import BaseModel, ConfigDict

from penstock.db.tenancy import TenantPool
from penstock.observe import get_logger
from penstock.pipeline.ports import BlobStore, TendsIndex

log = get_logger(__name__)

ORPHAN_AGE = timedelta(hours=6)
"""No upload whose connection was lost goes on writing its blob this long."""


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
        abandoned = await self.remove_orphans()
        if settled or started or abandoned:
            log.info("documents_tended", settled=settled, file_deletions=started, intents_abandoned=abandoned)
        if swept:
            log.warning("processes_swept", count=swept)

    async def remove_orphans(self, age: timedelta = ORPHAN_AGE) -> int:
        """Blobs of uploads that never committed. Only what this database recorded before it was written."""
        removed = 0
        while True:
            async with self._tenants.everyone() as conn:
                left = await conn.fetch("select * from keeping.abandon_intents($1)", age)
            for row in left:
                await self._blobs.delete(row["blob_path"])
            async with self._tenants.everyone() as conn:
                await conn.execute("select keeping.forget_intents($1)", [row["file_id"] for row in left])
            removed += len(left)
            if not left:
                return removed
