"""Deletes the remaining documents of a deleted project."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from penstock.db.tenancy import TenantPool
from penstock.model import ProjectId, TenantId
from penstock.queue.task_run import TaskRun

BATCH = 200
DELETE = "select ingest.delete_batch($1, $2)"


class DeleteProject(BaseModel):
    """The payload of `delete-project`."""

    model_config = ConfigDict(frozen=True)

    project_id: ProjectId


class ProjectDeletion:
    def __init__(self, tenants: TenantPool) -> None:
        self._tenants = tenants

    async def __call__(self, payload: DeleteProject, run: TaskRun) -> None:
        assert run.tenant_id is not None, "a project's task carries its tenant"
        while True:
            async with self._tenants.transaction(TenantId(run.tenant_id)) as conn:
                if not await conn.fetchval(DELETE, payload.project_id, BATCH):
                    return
