"""Re-indexes a project on the workers: one task follows the run, one task runs each shard."""

from __future__ import annotations

from uuid import UUID

from pydantic import BaseModel, ConfigDict

from penstock.db.tenancy import TenantPool
from penstock.errors import PenstockError
from penstock.model import ProjectId, Snooze, TenantId
from penstock.pipeline.bulk.calls import BulkCalls
from penstock.pipeline.bulk.shard_runner import ShardRunner
from penstock.queue.task_run import TaskRun

LOOK_SECONDS = 2.0
"""How often a run is looked at: whether its shards are closed, and whether each still has a task."""

START = "select ingest.start_bulk($1, $2)"


class ReindexFailed(PenstockError):
    """A re-index ended without being done; its row says why."""

    def __init__(self, run_id: str) -> None:
        super().__init__(
            f"re-index {run_id} failed",
            f"To see why: penstock reindex status {run_id}. To continue: penstock reindex resume {run_id}",
        )
        self.run_id = run_id
        self.args = (run_id,)


class ReindexProject(BaseModel):
    """The payload of `reindex-project`."""

    model_config = ConfigDict(frozen=True)

    project_id: ProjectId
    embedder: str | None = None
    run_id: UUID | None = None
    """None: a task of an earlier version, which starts a run."""


class ReindexShard(BaseModel):
    """The payload of `reindex-shard`."""

    model_config = ConfigDict(frozen=True)

    run_id: UUID
    shard: int


class Reindexing:
    """The handler of `reindex-project`: plans the shards, sees that each has a task, and ends the run."""

    def __init__(self, tenants: TenantPool, calls: BulkCalls) -> None:
        self._tenants = tenants
        self._calls = calls

    async def __call__(self, payload: ReindexProject, run: TaskRun) -> Snooze | None:
        tenant_id = _tenant(run)
        if payload.run_id is None:
            async with self._tenants.transaction(tenant_id) as conn:
                await conn.execute(START, str(payload.project_id), payload.embedder)
            return None
        while True:
            while await self._calls.plan(tenant_id, payload.run_id):
                await self._calls.enqueue(tenant_id, payload.run_id)
            await self._calls.enqueue(tenant_id, payload.run_id)
            state = await self._calls.finish(tenant_id, payload.run_id)
            if state == "failed":
                raise ReindexFailed(str(payload.run_id))
            if state in ("done", "stopped"):
                return None
            if state != "plan":
                return Snooze(LOOK_SECONDS)


class ReindexingShard:
    """The handler of `reindex-shard`."""

    def __init__(self, runner: ShardRunner) -> None:
        self._runner = runner

    async def __call__(self, payload: ReindexShard, run: TaskRun) -> Snooze | None:
        result = await self._runner.run(_tenant(run), payload.run_id, payload.shard, f"task {run.task_id}")
        return None if result.outcome in ("closed", "ended") else Snooze(result.seconds)


def _tenant(run: TaskRun) -> TenantId:
    assert run.tenant_id is not None, "a re-index belongs to a tenant"
    return TenantId(run.tenant_id)
