"""Thin typed wrappers around the queue's functions, each over the role that may call it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from penstock.db import Connection, Record
from tests.plugins.database import Database
from tests.sql.clock import Clock

JOB = "job"
"""The task type most tests use; it lives in the queue `default`."""


def encoded(value: object) -> object:
    """A Python value as the driver takes it: payloads are JSON text."""
    if isinstance(value, dict):
        return json.dumps(value)
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return [json.dumps(item) for item in value]
    return value


async def rows(connection: Connection, function: str, *args: object, **named: object) -> list[Record]:
    """Call `queues.<function>` and return its rows; a name without its underscore is a named argument."""
    places = [f"${n}" for n in range(1, len(args) + 1)]
    places += [f"_{name} => ${n}" for n, name in enumerate(named, len(args) + 1)]
    values = [encoded(value) for value in (*args, *named.values())]
    return list(await connection.fetch(f"select * from queues.{function}({', '.join(places)})", *values))


async def value(connection: Connection, function: str, *args: object, **named: object) -> Any:
    """The only value of a call; what it is, the SQL function says."""
    return (await rows(connection, function, *args, **named))[0][0]


class Calls:
    """The calls of producers, workers and operators, and an admin's look at the tables."""

    def __init__(self, runtime: Connection, operator: Connection, admin: Connection, clock: Clock) -> None:
        self.runtime = runtime
        self.operator = operator
        self.admin = admin
        self.clock = clock

    # -- declare

    async def put_type(self, task_type: str = JOB, **options: object) -> None:
        await rows(self.runtime, "put_task_type", task_type, **options)

    async def worker(self, *queues: str, lease_seconds: float = 30, name: str = "w") -> int:
        lease_for = timedelta(seconds=lease_seconds)
        return cast(
            "int", await value(self.runtime, "register_worker", name, list(queues) or ["default"], lease_for)
        )

    async def limit(self, scope: str = "each_key", queue: str = "default", **limits: object) -> None:
        await rows(self.operator, "put_limits", queue, scope, **limits)

    # -- produce

    async def enqueue(
        self, payload: dict[str, object] | None = None, *, task_type: str = JOB, **named: object
    ) -> int:
        return cast("int", await value(self.runtime, "enqueue", task_type, payload or {}, **named))

    async def enqueue_many(self, count: int, *, task_type: str = JOB, **named: object) -> list[int]:
        payloads = [json.dumps({"n": n}) for n in range(count)]
        return cast("list[int]", await value(self.runtime, "enqueue_many", task_type, payloads, **named))

    # -- work

    async def admit(self) -> None:
        """Decide what is due in the queue `default`, without claiming any of it."""
        queue_id = await self.admin.fetchval("select queue_id from queues.queue where queue_name = 'default'")
        await rows(self.runtime, "admit", queue_id)

    async def claim(
        self, worker: int, limit: int = 1, queue: str = "default", **named: object
    ) -> list[Record]:
        return await rows(self.runtime, "claim", worker, queue, limit, **named)

    async def claim_one(self, worker: int, queue: str = "default") -> Record:
        claimed = await self.claim(worker, 1, queue)
        assert len(claimed) == 1, f"nothing to claim in {queue}"
        return claimed[0]

    async def claimed_ids(self, worker: int, limit: int = 100, queue: str = "default") -> list[int]:
        """The tasks of one claim by their ids; within a claim no order is promised."""
        return sorted(lease["task_id"] for lease in await self.claim(worker, limit, queue))

    async def complete(self, worker: int, *leases: Record) -> list[int]:
        return cast(
            "list[int]",
            await value(self.runtime, "complete", worker, [lease["lease_id"] for lease in leases]),
        )

    async def fail(
        self,
        worker: int,
        lease: Record,
        code: str = "Error",
        message: str = "it broke",
        *,
        retry_after: float | None = None,
        final: bool = False,
    ) -> Record:
        answer = await rows(
            self.runtime,
            "fail",
            worker,
            [lease["lease_id"]],
            [code],
            [message],
            retry_after=[retry_after],
            final=[final],
        )
        return answer[0]

    async def close(self, how: str, worker: int, lease: Record, *args: object) -> list[int]:
        return cast("list[int]", await value(self.runtime, how, worker, [lease["lease_id"]], *args))

    async def lose(self, *, seconds: float = 31) -> list[Record]:
        """Let the workers fall silent for longer than their lease, and rescue what they held."""
        await self.clock.advance(seconds=seconds)
        return await rows(self.runtime, "rescue")

    async def die(
        self, worker: int, *, message: str = "it broke", code: str = "Error", **named: object
    ) -> int:
        """Enqueue one task, run it and fail it for good."""
        task = await self.enqueue(**named)  # type: ignore[arg-type]  # payload and names of enqueue
        lease = await self.claim_one(worker)
        assert lease["task_id"] == task
        assert (await self.fail(worker, lease, code, message, final=True))["outcome"] == "dead"
        return task

    # -- look

    async def state(self, task: int) -> str:
        return cast("str", await value(self.operator, "task_state", task))

    async def reasons(self, task: int) -> list[str]:
        return [row["reason"] for row in await rows(self.operator, "explain", task)]

    async def shown(self, task: int) -> dict[str, Any]:
        return cast("dict[str, Any]", json.loads(await value(self.operator, "show_task", task)))

    async def outcomes(self, task: int) -> list[str]:
        return [attempt["outcome"] for attempt in (await self.shown(task))["attempts"]]

    async def count(self, table: str, where: str = "true") -> int:
        return cast("int", await self.admin.fetchval(f"select count(*) from queues.{table} where {where}"))

    async def audits(self, action: str) -> list[Record]:
        return list(
            await self.admin.fetch("select * from queues.audit where action = $1 order by audit_id", action)
        )


@asynccontextmanager
async def calls(database: Database, *, real_time: bool = False) -> AsyncIterator[Calls]:
    """One connection a role, the task type `job`, and, unless told otherwise, a clock that stands still."""
    async with (
        database.connect("admin") as admin,
        database.connect("runtime") as runtime,
        database.connect("operator") as operator,
    ):
        clock = Clock(admin, datetime.now(UTC)) if real_time else await Clock.install(admin)
        queue = Calls(runtime, operator, admin, clock)
        await queue.put_type()
        yield queue


@asynccontextmanager
async def sessions(database: Database, count: int) -> AsyncIterator[Sequence[Connection]]:
    """Several runtime connections at once."""
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(database.connect("runtime")) for _ in range(count)]
