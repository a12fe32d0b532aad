"""One run of a task, as packages below the worker see it; the worker's `Context` implements it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, Literal, Protocol
from uuid import UUID

from penstock.db import Connection
from penstock.model import TaskId


class Values(Protocol):
    """A pool of connections that runs one statement at a time."""

    async def fetchval(self, statement: str, /, *arguments: object) -> Any: ...


class TaskRun(Protocol):
    """The commit of `transaction()` also closes the lease, so that a run's writes and its close are one."""

    @property
    def task_id(self) -> TaskId:
        """The same for every run of the task."""

    @property
    def attempt(self) -> int:
        """Which run this is, from one."""

    @property
    def tenant_id(self) -> UUID | None:
        """The tenant of the task, or None."""

    def transaction(
        self, *, counts_as: Literal["success", "failed"] = "success"
    ) -> AbstractAsyncContextManager[Connection]: ...
    async def complete_by(self, pool: Values, statement: str, *arguments: object) -> Any: ...


class ClosingRun(TaskRun, Protocol):
    """A run that can be closed in a transaction that somebody else opens."""

    def closing(self) -> AbstractAsyncContextManager[Callable[[Connection], Awaitable[None]]]: ...
