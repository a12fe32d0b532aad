"""A tenant with a process to play with: the machinery's functions, called as their owner would call them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, cast

from penstock.db import Connection, Record
from tests.plugins.database import Database
from tests.sql.document_calls import DocumentCalls, Tenant, call, document_calls, tenant_transaction

PROCESS = "comms.send_sms"
SUPERVISOR = "comms.send_sms_supervisor"


@dataclass(frozen=True, slots=True)
class Processes:
    """Text messages of one tenant, each a root."""

    calls: DocumentCalls
    tenant: Tenant

    async def machinery(self, function: str, *arguments: object, on: Connection | None = None) -> Any:
        """Call a function of `internal` that no login may call."""
        admin = on or self.calls.admin
        async with tenant_transaction(admin, self.tenant):
            rows = await call(admin, f"internal.{function}", *arguments)
        return rows[0][0]

    async def start(self, **options: object) -> int:
        """A message to be sent; the number of its task."""
        message = await self.calls.of(self.tenant, "comms.create_sms_message", "+4930123456", "Hello")
        ((refused, root_id),) = await self.calls.rows(
            self.tenant, "comms.kickoff_send_sms", message, **options
        )
        assert refused is None
        return cast("int", root_id)

    async def root(self, root_id: int) -> Record | None:
        return await self.calls.admin.fetchrow(
            "select * from internal.open_root where process = $1 and root_id = $2", PROCESS, root_id
        )

    async def open_root(self, root_id: int) -> Record:
        root = await self.root(root_id)
        assert root is not None
        return root

    async def payload(self, task_id: int) -> dict[str, Any]:
        found = await self.calls.admin.fetchval(
            "select coalesce(payload, large_payload::jsonb) from queues.find_task($1)", task_id
        )
        return cast("dict[str, Any]", json.loads(found))

    async def supervise(self, root_id: int, **payload: object) -> dict[str, Any]:
        """Call the supervisor by hand, as the worker would with this payload."""
        answer = await self.calls.of(
            self.tenant, "internal.run_function", SUPERVISOR, {"send_sms_task_id": root_id, **payload}
        )
        return cast("dict[str, Any]", answer)

    async def outcome(self, root_id: int, **payload: object) -> str:
        answer = await self.supervise(root_id, **payload)
        return cast("str", answer["payload"]["outcome"] if "payload" in answer else answer["status"])

    async def attempt(self, root_id: int) -> int:
        answer = await self.supervise(root_id)
        assert answer["payload"]["outcome"] == "attempted", answer
        return cast("int", answer["payload"]["send_sms_attempt_id"])

    async def report(self, attempt_id: int, error: str | None = None, **told: object) -> None:
        """Tell the handler how an attempt went."""
        original = {"original_payload": {"send_sms_attempt_id": attempt_id}}
        if error is None:
            handler, payload = "comms.record_sms_success", {**original, "worker_payload": {}, **told}
        else:
            handler, payload = "comms.record_sms_failure", {**original, "error": error, **told}
        answer = await self.calls.of(self.tenant, "internal.run_function", handler, payload)
        assert answer["status"] == "succeeded", answer

    async def state(self, task_id: int) -> str:
        return cast("str", await self.calls.operator.fetchval("select queues.task_state($1)", task_id))

    async def sweep(self, **options: object) -> int:
        (row,) = await call(self.calls.runtime, "all_tenants.sweep_processes", **options)
        return cast("int", row[0])

    async def lose(self, root_id: int) -> None:
        """Let the supervisor's task vanish, as a dead letter that was purged does."""
        task_id = (await self.open_root(root_id))["task_id"]
        await self.calls.operator.fetchval("select queues.cancel_task($1)", task_id)
        assert await self.state(task_id) == "cancelled"


@asynccontextmanager
async def processes(database: Database) -> AsyncIterator[Processes]:
    async with document_calls(database) as calls:
        yield Processes(calls, await calls.create_tenant("acme"))
