"""The SQL of messages and their processes, called as the runtime login, with a clock that stands still."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal, TypeAlias, cast

from penstock.db import Connection, Record
from tests.plugins.database import Database
from tests.sql.clock import Clock
from tests.sql.document_calls import Tenant, call, decoded, document_calls, tenant_transaction

Kind: TypeAlias = Literal["email", "sms"]
KINDS: tuple[Kind, ...] = ("email", "sms")

STATE = """
select jsonb_build_object(
  'messages', (select count(*) from comms.{kind}_message),
  'tasks', (select count(*) from comms.send_{kind}_task),
  'attempts', (select count(*) from comms.send_{kind}_attempt),
  'failed', (select count(*) from comms.send_{kind}_attempt_failed),
  'succeeded', (select count(*) from comms.send_{kind}_attempt_succeeded),
  'roots', (select coalesce(sum(check_number), 0) from internal.open_root),
  'queued', (select count(*) from queues.task))
"""


@dataclass(frozen=True, slots=True)
class MessageCalls:
    """One kind of message; what is registered is called by its name, as workers do."""

    kind: Kind
    runtime: Connection
    operator: Connection
    admin: Connection
    clock: Clock
    acme: Tenant
    other: Tenant

    # -- names

    @property
    def process(self) -> str:
        return f"comms.send_{self.kind}"

    @property
    def supervisor(self) -> str:
        return f"{self.process}_supervisor"

    @property
    def task_key(self) -> str:
        return f"send_{self.kind}_task_id"

    @property
    def attempt_key(self) -> str:
        return f"send_{self.kind}_attempt_id"

    def handler(self, part: Literal["get", "success", "failure"]) -> str:
        return f"comms.get_{self.kind}_payload" if part == "get" else f"comms.record_{self.kind}_{part}"

    # -- calls

    async def create(self, tenant: Tenant | None = None) -> int:
        arguments = (
            (["miller@example.org"], "Open", "Now") if self.kind == "email" else ("+4930123456", "Now")
        )
        async with tenant_transaction(self.runtime, tenant or self.acme):
            made = await call(self.runtime, f"comms.create_{self.kind}_message", *arguments)
        return cast("int", made[0][0])

    async def kickoff(
        self, message_id: int | None, tenant: Tenant | None = None
    ) -> tuple[str | None, int | None]:
        """The validation failure and the task."""
        async with tenant_transaction(self.runtime, tenant or self.acme):
            row = (await call(self.runtime, f"comms.kickoff_send_{self.kind}", message_id))[0]
        return row["validation_failure_message"], row[self.task_key]

    async def start(self) -> int:
        """A message and its task."""
        refused, task_id = await self.kickoff(await self.create())
        assert refused is None
        assert task_id is not None
        return task_id

    async def run(
        self, function: str, payload: object, tenant: Tenant | None = None, *, on: Connection | None = None
    ) -> dict[str, Any]:
        connection = on or self.runtime
        async with tenant_transaction(connection, tenant or self.acme):
            return await run_function(connection, function, payload)

    async def supervise(self, task_id: int) -> str:
        """What a run of the supervisor, out of turn, came to."""
        answer = await self.run(self.supervisor, {self.task_key: task_id})
        return cast("str", answer.get("payload", {}).get("outcome", answer["status"]))

    async def tell(self, part: Literal["success", "failure"], attempt_id: int, **told: object) -> str:
        payload = {"original_payload": {self.attempt_key: attempt_id}, **told}
        answer = await self.run(self.handler(part), payload)
        return cast("str", answer["status"])

    async def attempt(self, task_id: int) -> Record:
        """The newest attempt of a task."""
        row = await self.admin.fetchrow(
            f"select * from comms.send_{self.kind}_attempt where {self.task_key} = $1"
            " order by 1 desc limit 1",
            task_id,
        )
        assert row is not None
        return row

    async def root(self, task_id: int) -> Record | None:
        return await self.admin.fetchrow(
            "select * from internal.open_root where process = $1 and root_id = $2", self.process, task_id
        )

    async def state(self) -> dict[str, int]:
        """How much of everything there is."""
        return cast("dict[str, int]", json.loads(await self.admin.fetchval(STATE.format(kind=self.kind))))

    async def failures(self, task_id: int) -> list[tuple[str, bool]]:
        rows = await self.admin.fetch(
            f"select error_message, retriable from comms.send_{self.kind}_attempt_failed"
            f" join comms.send_{self.kind}_attempt using ({self.attempt_key})"
            f" where {self.task_key} = $1 order by {self.attempt_key}",
            task_id,
        )
        return [(row[0], row[1]) for row in rows]

    # -- the queue

    async def worker(self, queue: str) -> int:
        return cast(
            "int",
            await self.runtime.fetchval(
                "select queues.register_worker('w', $1, $2)", [queue], timedelta(seconds=30)
            ),
        )

    async def claim(self, worker: int, queue: str) -> Record | None:
        return await self.runtime.fetchrow("select * from queues.claim($1, $2, 1)", worker, queue)

    async def work(self, queue: str) -> list[str]:
        """Run the db_function tasks that are due in a queue, each with its close; what was called."""
        called = []
        worker = await self.worker(queue)
        while (lease := await self.claim(worker, queue)) is not None:
            payload = json.loads(lease["payload"])
            assert lease["task_type"] == "db_function", lease
            async with self.runtime.transaction():
                await self.runtime.execute(
                    "select set_config('penstock.tenant_id', $1, true)", str(lease["tenant_id"])
                )
                await run_function(self.runtime, payload["db_function"], payload)
                await self.runtime.execute("select queues.complete_here($1, $2)", worker, lease["lease_id"])
            called.append(payload["db_function"])
        return called


async def run_function(connection: Connection, function: str, payload: object) -> dict[str, Any]:
    text = None if payload is None else json.dumps(payload)
    answer = await connection.fetchval("select internal.run_function($1, $2)", function, text)
    return cast("dict[str, Any]", decoded(answer))


@asynccontextmanager
async def message_calls(kind: Kind, database: Database) -> AsyncIterator[MessageCalls]:
    """Two tenants, and one connection a role."""
    async with document_calls(database) as calls:
        yield MessageCalls(
            kind,
            calls.runtime,
            calls.operator,
            calls.admin,
            calls.clock,
            await calls.create_tenant("acme"),
            await calls.create_tenant("other"),
        )
