"""The four queues of a team that runs BullMQ, and the inlets they lead to."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from penstock.db import Connection
from penstock.db.embedded.cluster import SUPERUSER
from penstock.db.logins import OPERATOR
from penstock.queue.registry import Registry
from tests.plugins.bullmq import BRIDGE
from tests.plugins.database import Database

QUEUES = {
    "ingest-document": {"ingest": "ingest_document"},
    "sync-connector": {"sync": "sync_connector"},
    "delete-document": {"delete": "delete_document"},
    "reindex-project": {"reindex": "reindex_project"},
}
TASKS = """
select t.task_type, t.payload, t.priority, t.max_attempts, t.scheduled_at, t.on_duplicate, a.slug as tenant
from queues.task t left join accounts.tenant a using (tenant_id)
order by t.task_id
"""


def example() -> Registry:
    """The task types of examples/bullmq/tasks.py."""
    spec = importlib.util.spec_from_file_location("bullmq_tasks", BRIDGE.parent / "tasks.py")
    assert spec is not None
    assert spec.loader is not None
    tasks = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tasks)
    registry = tasks.app.registry
    assert isinstance(registry, Registry)
    return registry


def node_url(database: Database, *, admin: bool = False) -> str:
    """The operator's address in the form that Node's driver understands: with its password in it."""
    login = SUPERUSER if admin else OPERATOR
    lines = database.server.password_file.read_text().splitlines()
    password = next(line.rsplit(":", 1)[1] for line in lines if line.split(":")[3] == login)
    return database.login_url(login, password)


@dataclass(frozen=True, slots=True)
class Moved:
    """What arrived, read as the administrator."""

    admin: Connection

    async def tasks(self) -> list[dict[str, Any]]:
        rows = await self.admin.fetch(TASKS)
        return [{**row, "payload": json.loads(row["payload"])} for row in rows]

    async def numbers(self) -> list[int]:
        """The number in each payload, in order."""
        rows = await self.admin.fetch("select (payload ->> 'n')::int as n from queues.task order by 1")
        return [row["n"] for row in rows]

    async def open_numbers(self) -> list[int]:
        """The same of the tasks that wait for a worker, once each key is decided."""
        await self.admin.execute("select queues.admit(q.queue_id) from queues.queue q")
        rows = await self.admin.fetch(
            "select (payload ->> 'n')::int as n from queues.task t"
            " where queues.task_state(t.task_id) in ('ready', 'waiting') order by 1"
        )
        return [row["n"] for row in rows]

    async def numbers_are(self, *numbers: int) -> bool:
        return await self.numbers() == list(numbers)

    async def counted(self) -> dict[str, int]:
        row = await self.admin.fetchrow(
            "select sum(taken)::int as taken, sum(duplicates)::int as duplicates, "
            "sum(refused)::int as refused from queues.inlet_count"
        )
        assert row is not None
        return {name: n for name, n in row.items() if n}


@asynccontextmanager
async def moved(database: Database) -> AsyncIterator[Moved]:
    """The task types of the example with their retries, and a tenant acme."""
    async with database.connect() as admin:
        for task_type in example().types.values():
            options = task_type.options
            await admin.execute(
                "select queues.put_task_type($1, _max_attempts => $2, _retry => $3)",
                task_type.name,
                options.max_attempts,
                options.policies(),
            )
        await admin.execute(
            "select all_tenants.create_tenant(internal.uuid7(), internal.uuid7(), 'acme', '', 'words')"
        )
        yield Moved(admin)
