"""A run of no task, for channels that only ask whose it is."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import UUID, uuid4

from penstock.db import Connection
from penstock.model import TaskId
from penstock.queue.task_run import Values


@dataclass(frozen=True, slots=True)
class NoRun:
    tenant_id: UUID | None = field(default_factory=uuid4)
    task_id: TaskId = field(default=TaskId(0))
    attempt: int = 1

    async def complete_by(self, pool: Values, statement: str, *arguments: object) -> Any:
        raise AssertionError("a channel writes nothing itself")

    def transaction(
        self, *, counts_as: Literal["success", "failed"] = "success"
    ) -> AbstractAsyncContextManager[Connection]:
        raise AssertionError("a channel writes nothing itself")
