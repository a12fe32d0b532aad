"""Maintains documents and processes every minute: stranded runs, the index, orphaned blobs, samples."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from penstock.db.tenancy import TenantPool
from penstock.observe import get_logger

if TYPE_CHECKING:
    from penstock.blobs.store import Blobs
    from penstock.index import Index

log = get_logger(__name__)

ORPHAN_AGE = timedelta(hours=6)
"""No upload that lost its connection keeps writing its blob for this long."""


class MaintainDocuments(BaseModel):
    """The payload of `maintain-documents`: nothing."""

    model_config = ConfigDict(frozen=True)


class DocumentMaintenance:
    """The schedule's handler; each step is short and safe to repeat or run concurrently."""

    def __init__(self, tenants: TenantPool, blobs: Blobs, index: Index) -> None:
        self._tenants = tenants
        self._blobs = blobs
        self._index = index

    async def __call__(self, payload: MaintainDocuments) -> None:
        async with self._tenants.all_tenants() as conn:
            settled = await conn.fetch("select document_id, reason_code from all_tenants.settle_stranded()")
            swept = await conn.fetchval("select all_tenants.sweep_processes()")
            started = await conn.fetchval("select all_tenants.start_file_deletions()")
            await conn.execute("select all_tenants.forget_old()")
            await conn.execute("select all_tenants.take_stage_samples()")
            await conn.execute("select all_tenants.settle_operations()")
            await conn.execute("select all_tenants.settle_bulk()")
        for row in settled:
            if row["reason_code"] is not None:
                _log_failure(row["document_id"], row["reason_code"])
        await self._index.maintain()
        abandoned = await self.remove_orphans()
        if settled or started or abandoned:
            log.info(
                "documents_maintained",
                settled=len(settled),
                file_deletions=started,
                intents_abandoned=abandoned,
            )
        if swept:
            log.warning("processes_swept", count=swept)

    async def remove_orphans(self, age: timedelta = ORPHAN_AGE) -> int:
        """Delete blobs of uploads that never committed, but only those this database reserved."""
        removed = 0
        while True:
            async with self._tenants.all_tenants() as conn:
                left = await conn.fetch("select * from all_tenants.abandon_intents($1)", age)
            for row in left:
                await self._blobs.delete(row["blob_path"])
            async with self._tenants.all_tenants() as conn:
                await conn.execute("select all_tenants.forget_intents($1)", [row["file_id"] for row in left])
            removed += len(left)
            if not left:
                return removed


def _log_failure(document_id: UUID, code: str) -> None:
    """Log a document whose task died, was quarantined or cancelled without a run that could log it."""
    log.warning(
        "document_failed",
        document_id=str(document_id),
        mode="index",
        code=code,
        message=f"penstock explain {document_id} shows the message",
    )
