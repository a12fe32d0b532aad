"""Re-indexes a project; a new embedder is built alongside the live one until all documents switch at once."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from penstock.db.tenancy import TenantPool
from penstock.errors import PenstockError
from penstock.model import ProjectId, Snooze, TenantId
from penstock.queue.task_run import TaskRun

LOOK_SECONDS = 2.0
"""How often a switch checks whether every document is ready."""
BATCH = 500


class SwitchGivenUp(PenstockError):
    """No document of a project could be embedded by the new embedder; the project keeps its current one."""

    def __init__(self, project_id: str) -> None:
        super().__init__(
            f"no document of project {project_id} could be embedded by the new embedder",
            "Find out why: penstock explain DOCUMENT. Then switch again",
        )
        self.project_id = project_id
        self.args = (project_id,)


class ReindexProject(BaseModel):
    """The payload of `reindex-project`; without an embedder, documents keep their current one."""

    model_config = ConfigDict(frozen=True)

    project_id: ProjectId
    embedder: str | None = None


class Reindexing:
    def __init__(self, tenants: TenantPool, code_version: str) -> None:
        self._tenants = tenants
        self._code_version = code_version

    async def __call__(self, payload: ReindexProject, run: TaskRun) -> Snooze | None:
        assert run.tenant_id is not None, "a project's task carries its tenant"
        tenant_id = TenantId(run.tenant_id)
        if payload.embedder is None:
            await self._send_all(tenant_id, payload.project_id)
            return None
        return await self._switch(tenant_id, payload.project_id)

    async def _send_all(self, tenant_id: TenantId, project_id: ProjectId) -> None:
        last = None
        while True:
            async with self._tenants.transaction(tenant_id) as conn:
                last = await conn.fetchval("select ingest.reindex_batch($1, $2, $3)", project_id, last, BATCH)
            if last is None:
                return

    async def _switch(self, tenant_id: TenantId, project_id: ProjectId) -> Snooze | None:
        async with self._tenants.transaction(tenant_id) as conn:
            left = await conn.fetchval(
                "select ingest.stage_batch($1, $2, $3)", project_id, self._code_version, BATCH
            )
        if left is None:
            return None
        if left > 0:
            return Snooze(LOOK_SECONDS)
        async with self._tenants.transaction(tenant_id) as conn:
            ended = await conn.fetchval("select ingest.flip_embedder($1, $2)", project_id, self._code_version)
        if ended == "given_up":
            raise SwitchGivenUp(str(project_id))
        return None if ended == "flipped" else Snooze(LOOK_SECONDS)
