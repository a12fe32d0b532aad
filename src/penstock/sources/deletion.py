"""Deletes the remaining documents of a disconnected source."""

from __future__ import annotations

from typing import Final

from pydantic import BaseModel, ConfigDict

from penstock.db.tenancy import TenantPool
from penstock.model import SourceId, TenantId
from penstock.queue.task_run import TaskRun

BATCH: Final = 200
DELETE: Final = "select ingest.delete_source_batch($1, $2)"


class DeleteSource(BaseModel):
    """The payload of `delete-source`."""

    model_config = ConfigDict(frozen=True)

    source_id: SourceId


class SourceDeletion:
    """The handler of `delete-source`."""

    def __init__(self, tenants: TenantPool) -> None:
        self._tenants = tenants

    async def __call__(self, payload: DeleteSource, run: TaskRun) -> None:
        assert run.tenant_id is not None, "a source's task carries its tenant"
        while True:
            async with self._tenants.transaction(TenantId(run.tenant_id)) as conn:
                if not await conn.fetchval(DELETE, payload.source_id, BATCH):
                    return
