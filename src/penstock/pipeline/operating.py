"""Carries out an operation on many items, batch by batch; a lost worker costs a batch, never an item."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from penstock.db import Connection
from penstock.db.tenancy import TenantPool
from penstock.model import Snooze, TenantId
from penstock.queue.task_run import TaskRun

BATCH = 50
"""Items in a transaction; who cancels waits for at most one of them."""
WATCH_SECONDS = 2.0
"""How often the items of a canary are looked at."""
PATIENCE = timedelta(hours=1)
"""How long they may take."""


class Operate(BaseModel):
    """The payload of `operate`."""

    model_config = ConfigDict(frozen=True)

    operation_id: UUID


class Operating:
    """The handler of `operate`. An item and the operation's position are written in one transaction, and the
    run's number fences every batch: a worker that wakes up late writes nothing."""

    def __init__(
        self,
        tenants: TenantPool,
        *,
        batch: int = BATCH,
        watch_seconds: float = WATCH_SECONDS,
        patience: timedelta = PATIENCE,
    ) -> None:
        self._tenants = tenants
        self._batch = batch
        self._watch_seconds = watch_seconds
        self._patience = patience

    async def __call__(self, payload: Operate, run: TaskRun) -> Snooze | None:
        schema = "all_tenants" if run.tenant_id is None else "ingest"
        async with self._transaction(run) as conn:
            number = await conn.fetchval(
                f"select {schema}.begin_operation($1, $2)", payload.operation_id, run.task_id
            )
        follows = "over" if number is None else "more"
        while follows == "more":
            async with self._transaction(run) as conn:
                follows = await conn.fetchval(
                    f"select {schema}.step_operation($1, $2, $3, $4)",
                    payload.operation_id,
                    number,
                    self._batch,
                    self._patience,
                )
        return Snooze(self._watch_seconds) if follows == "watch" else None

    @asynccontextmanager
    async def _transaction(self, run: TaskRun) -> AsyncIterator[Connection]:
        if run.tenant_id is not None:
            async with self._tenants.transaction(TenantId(run.tenant_id)) as conn:
                yield conn
        else:
            async with self._tenants.all_tenants() as conn, conn.transaction():
                yield conn
