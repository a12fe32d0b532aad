"""One run of a supervised process, by the names and functions every process has."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from penstock.db import Connection, Record
from tests.plugins.database import Database
from tests.sql.document_calls import DocumentCalls, Tenant, call, document_calls, tenant_transaction

Made: TypeAlias = Callable[[DocumentCalls, Tenant], Awaitable[object]]
"""Makes something of a tenant's for a process to be about."""


@dataclass(frozen=True, slots=True)
class Kickoff:
    """What a kickoff answers: words when it refuses, else the task."""

    refused: str | None
    task_id: int | None


class ProcessCalls:
    """Calls as the runtime login, through the runner as a worker does; the administrator looks."""

    def __init__(self, calls: DocumentCalls, process: str) -> None:
        self.calls = calls
        self.process = process
        self.schema, self.name = process.split(".")

    async def kickoff(self, tenant: Tenant, about: object, **named: object) -> Kickoff:
        (row,) = await self.calls.rows(tenant, f"{self.schema}.kickoff_{self.name}", about, **named)
        return Kickoff(row["validation_failure_message"], row[f"{self.name}_task_id"])

    async def run(self, tenant: Tenant, part: str, payload: object) -> dict[str, Any]:
        """Run a part of the process (supervisor, performer, a handler) and return its envelope."""
        function = await self.calls.admin.fetchval(
            "select function_name from internal.business_function where process = $1 and part = $2",
            self.process,
            part,
        )
        assert function is not None, f"{self.process} has no {part}"
        return await run_function(self.calls.runtime, tenant, function, payload)

    async def facts(self, kind: str) -> list[Record]:
        """The rows of one table of the process: task, attempt, attempt_succeeded or attempt_failed."""
        table = f"{self.schema}.{self.name}_{kind}"
        return list(await self.calls.admin.fetch(f"select * from {table} order by 1"))


class ProcessRun(ProcessCalls):
    """A process that was kicked off, and what it is about."""

    def __init__(
        self, calls: DocumentCalls, process: str, tenant: Tenant, about: object, task_id: int
    ) -> None:
        super().__init__(calls, process)
        self.tenant = tenant
        self.about = about
        self.task_id = task_id

    @property
    def root(self) -> dict[str, object]:
        """A supervisor's payload when it is called by hand."""
        return {f"{self.name}_task_id": self.task_id}

    async def check(self) -> str:
        """Run the supervisor; what it decided, in a word."""
        return await self.check_on(self.calls.runtime)

    async def check_on(self, connection: Connection) -> str:
        """The same over a connection of the caller's, and in its transaction if it has one."""
        function = f"{self.process}_supervisor"
        return outcome(await run_function(connection, self.tenant, function, self.root))

    async def of_another_tenant(self, slug: str, made: Made) -> ProcessRun:
        """The same process, kicked off for a new tenant."""
        return await kicked_off(self.calls, self.process, slug, made)

    async def attempts(self) -> list[dict[str, Any]]:
        """The payload of the channel task of each attempt."""
        rows = await self.calls.admin.fetch(
            f"select t.task_type, t.payload from {self.schema}.{self.name}_attempt a"
            f" join queues.task t using (task_id) where a.{self.name}_task_id = $1"
            f" order by a.{self.name}_attempt_id",
            self.task_id,
        )
        return [json.loads(row["payload"]) for row in rows]

    async def fail(self, error: str = "nobody answered", /, **told: object) -> dict[str, Any]:
        """Tell the error handler that the last attempt failed."""
        original = (await self.attempts())[-1]
        return await self.run(
            self.tenant, "error_handler", {"original_payload": original, "error": error, **told}
        )

    async def succeed(self, **worker_payload: object) -> dict[str, Any]:
        """Tell the success handler that the last attempt succeeded."""
        original = (await self.attempts())[-1]
        return await self.run(
            self.tenant, "success_handler", {"original_payload": original, "worker_payload": worker_payload}
        )

    async def wait_out_the_backoff(self) -> None:
        """Move the clock to when the next attempt is due."""
        due = await self.calls.admin.fetchval(
            "select next_check_at from internal.open_root where process = $1 and root_id = $2",
            self.process,
            self.task_id,
        )
        clock = self.calls.clock
        await clock.advance(seconds=(due - clock.now).total_seconds())

    async def max_attempts(self) -> int:
        return cast("int", await self.calls.admin.fetchval("select internal.max_attempts()"))

    async def is_open(self) -> bool:
        """Whether a supervisor will look at it again."""
        found = await self.calls.admin.fetchval(
            "select true from internal.open_root where process = $1 and root_id = $2",
            self.process,
            self.task_id,
        )
        return found is True

    async def is_stuck(self) -> bool:
        async with tenant_transaction(self.calls.admin, self.tenant):
            (row,) = await call(self.calls.admin, f"{self.schema}.is_{self.name}_stuck", self.about)
        return cast("bool", row[0])

    async def waits(self, connection: Connection) -> bool:
        """Whether another session holds what this connection's statement needs."""
        found = await self.calls.admin.fetchval(
            "select true from pg_locks where pid = $1 and not granted", connection.get_server_pid()
        )
        return found is True


def outcome(envelope: dict[str, Any]) -> str:
    """What a supervisor decided, in a word: its outcome, or the status that is no success."""
    if envelope["status"] == "succeeded":
        return str(envelope["payload"]["outcome"])
    return str(envelope["status"])


async def run_function(
    connection: Connection, tenant: Tenant, function: str, payload: object
) -> dict[str, Any]:
    """Call a registered function by its name, as a worker does, and return its envelope."""
    async with tenant_transaction(connection, tenant):
        (row,) = await call(connection, "internal.run_function", function, json.dumps(payload))
    return cast("dict[str, Any]", json.loads(row[0]))


async def kicked_off(calls: DocumentCalls, process: str, slug: str, made: Made) -> ProcessRun:
    tenant = await calls.create_tenant(slug)
    about = await made(calls, tenant)
    begun = await ProcessCalls(calls, process).kickoff(tenant, about)
    assert begun.refused is None
    assert begun.task_id is not None
    return ProcessRun(calls, process, tenant, about, begun.task_id)


@asynccontextmanager
async def process_run(database: Database, process: str, made: Made) -> AsyncIterator[ProcessRun]:
    """A process of a tenant, kicked off about what `made` makes."""
    async with document_calls(database) as calls:
        yield await kicked_off(calls, process, "mill", made)
