"""One run of a task, as packages below the worker see it; the worker's `Context` implements it."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Any, Literal, Protocol
from uuid import UUID

from penstock.db import Connection, Pool
from penstock.model import TaskId


class TaskRun(Protocol):
    """The commit of `transaction()` also closes the lease, so that a run's writes and its close are one."""

    @property
    def task_id(self) -> TaskId: ...
    @property
    def attempt(self) -> int: ...
    @property
    def tenant_id(self) -> UUID | None: ...
    def transaction(
        self, *, counts_as: Literal["success", "failed"] = "success"
    ) -> AbstractAsyncContextManager[Connection]: ...
    async def complete_by(self, pool: Pool, statement: str, *arguments: object) -> Any: ...
