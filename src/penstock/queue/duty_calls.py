"""A worker's calls that are not about one task: registration, rescue, schedules, maintenance, gauges."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, cast
from uuid import UUID

from penstock.db.reconnecting import ReconnectingConnection
from penstock.model import LeaseId, WorkerId
from penstock.observe.snapshot import InletGauge
from penstock.queue.schedule import Schedule
from penstock.queue.task_type import TaskType

PUT_QUEUES = "select n, queues.put_queue(n, $2) from unnest($1::text[]) as n"
PUT_TYPES = (
    "select queues.put_task_type(_task_type => t.task_type, _queue => t.queue, _priority => t.priority,"
    " _max_attempts => t.max_attempts, _max_losses => t.max_losses, _retry => t.retry::jsonb,"
    " _on_duplicate => t.on_duplicate, _time_limit => t.time_limit, _required_keys => t.required_keys,"
    " _payload_schema => t.payload_schema::jsonb)"
    " from jsonb_to_recordset($1::jsonb) as t (task_type text, queue text, priority integer,"
    " max_attempts integer, max_losses integer, retry text, on_duplicate text, time_limit interval,"
    " required_keys text[], payload_schema text)"
)
INLET_GAUGES = (
    "select inlet, received, taken, duplicates, refused, lag_seconds, backlog, silent_seconds"
    " from queues.inlet_gauges()"
)
PUT_SCHEDULE = (
    "select queues.put_schedule(_schedule_name => $1, _cron => $2, _timezone => $3, _next_at => $4,"
    " _task_type => $5, _payload => $6, _queue => $7, _priority => $8)"
)


@dataclass(frozen=True, slots=True)
class Tick:
    """A schedule that is due, and the database's time."""

    schedule: str
    cron: str
    timezone: str
    at: datetime
    clock: datetime


@dataclass(frozen=True, slots=True)
class Beat:
    """The leases whose cancellation was requested, with the reason, and who asked the worker to stop."""

    cancels: dict[LeaseId, str]
    stop_asked_by: str | None = None


@dataclass(frozen=True, slots=True)
class Rescued:
    """A lease taken back from a silent worker, and what became of its task."""

    task_id: int
    worker_id: int
    outcome: str


class DutyCalls:
    """One connection for all duties of a worker."""

    def __init__(self, line: ReconnectingConnection) -> None:
        self._line = line

    async def may_declare(self) -> bool:
        """Whether this login may declare task types; a producer-only login may not."""
        return bool(
            await self._line.fetchval(
                "select bool_and(has_function_privilege(p.oid, 'execute')) from pg_proc p"
                " where p.proname = 'put_task_type' and p.pronamespace = 'queues'::regnamespace"
            )
        )

    async def declare(self, types: Iterable[TaskType[Any]]) -> None:
        """Register the task types in the database, so that it can check payloads and decide retries."""
        # By name, the queues first: two workers that start at once then lock the rows in the same order.
        declared = sorted(types, key=lambda each: each.name)
        await self.put_queues({each.options.queue for each in declared})
        await self._line.fetch(PUT_TYPES, json.dumps([_declaration(each) for each in declared]))

    async def declare_schedule(self, schedule: Schedule, next_at: datetime) -> None:
        await self._line.fetch(
            PUT_SCHEDULE,
            schedule.name,
            schedule.cron,
            schedule.timezone,
            next_at,
            schedule.task_type,
            schedule.payload,
            schedule.queue,
            schedule.priority,
        )

    async def put_queues(self, queues: Iterable[str], payload_limit: int | None = None) -> dict[str, int]:
        """Declare queues; their numbers are what NOTIFY carries."""
        rows = await self._line.fetch(PUT_QUEUES, sorted(queues), payload_limit)
        return dict(tuple(row) for row in rows)

    async def register(
        self,
        name: str,
        queues: list[str],
        lease_seconds: float,
        versions: Mapping[str, str] | None = None,
        replaces: WorkerId | None = None,
    ) -> WorkerId:
        """`replaces`: the id that this process had until it was declared lost."""
        given = (name, queues, timedelta(seconds=lease_seconds), json.dumps(dict(versions or {})), replaces)
        return cast(
            "WorkerId",
            await self._line.fetchval("select queues.register_worker($1, $2, $3, $4, $5)", *given),
        )

    async def beat(self, worker_id: WorkerId) -> Beat:
        """Renew all leases; returns what the worker was asked meanwhile."""
        rows = await self._line.fetch("select lease_id, reason from queues.beat($1)", worker_id)
        return Beat(
            {row["lease_id"]: row["reason"] for row in rows if row["lease_id"] is not None},
            next((row["reason"] for row in rows if row["lease_id"] is None), None),
        )

    async def announce(self, tenant_ids: list[UUID]) -> int:
        """Tell pages that tasks changed; returns for how many seconds somebody looks."""
        return cast("int", await self._line.fetchval("select queues.announce($1)", tenant_ids))

    async def stop(self, worker_id: WorkerId) -> int:
        return cast("int", await self._line.fetchval("select queues.stop_worker($1)", worker_id))

    async def rescue(self) -> list[Rescued]:
        rows = await self._line.fetch("select * from queues.rescue()")
        return [Rescued(row["task_id"], row["worker_id"], row["outcome"]) for row in rows]

    async def open_leases(self, worker_id: WorkerId) -> list[LeaseId]:
        return cast("list[LeaseId]", await self._line.fetchval("select queues.open_leases($1)", worker_id))

    async def clock(self) -> datetime:
        return cast("datetime", await self._line.fetchval("select internal.clock()"))

    async def due_schedules(self) -> list[Tick]:
        return [Tick(*row) for row in await self._line.fetch("select * from queues.due_schedules()")]

    async def fire(self, tick: Tick, next_at: datetime) -> int | None:
        """Enqueue the tick's task; None when another worker did."""
        return cast(
            "int | None",
            await self._line.fetchval(
                "select queues.fire_schedule($1, $2, $3)", tick.schedule, tick.at, next_at
            ),
        )

    async def maintain(self, completed_days: int, dead_days: int) -> dict[str, int] | None:
        """What was done, or None if another worker is doing it."""
        report = await self._line.fetchval(
            "select queues.maintain($1, $2)", timedelta(days=completed_days), timedelta(days=dead_days)
        )
        return None if report is None else cast("dict[str, int]", json.loads(str(report)))

    async def sweep_inlets(self, limit: int) -> int:
        """Remove ledger rows past their retention; how many, or 0 if another worker is doing it."""
        return cast("int", await self._line.fetchval("select queues.sweep_inlets($1)", limit))

    async def take_samples(self) -> None:
        """Sample the minutes that ended, for the history of queues; only one worker does it."""
        await self._line.fetchval("select queues.take_samples()")

    async def gauges(self) -> tuple[dict[tuple[str, str], int], dict[str, float], int]:
        """Depth by queue and task type, age of the oldest ready task by queue, the dead tuples of ready."""
        by_type = await self._line.fetch("select queue, task_type, ready from queues.depths()")
        rows = await self._line.fetch("select queue, oldest_ready_seconds from queues.stats()")
        dead = await self._line.fetchval("select dead from queues.dead_tuples() where table_name = 'ready'")
        depths = {(row["queue"], row["task_type"]): row["ready"] for row in by_type}
        oldest = {row["queue"]: row["oldest_ready_seconds"] or 0.0 for row in rows}
        return depths, oldest, cast("int", dead or 0)

    async def inlet_gauges(self) -> dict[str, InletGauge]:
        """What is known of every inlet: those that this process, another one or a bridge reads."""
        rows = await self._line.fetch(INLET_GAUGES)
        return {row["inlet"]: InletGauge(*row[1:]) for row in rows}


def _declaration(task_type: TaskType[Any]) -> dict[str, object]:
    options = task_type.options
    limit = options.time_limit
    return {
        "task_type": task_type.name,
        "queue": options.queue,
        "priority": options.priority,
        "max_attempts": options.max_attempts,
        "max_losses": options.max_losses,
        "retry": options.policies(),
        "on_duplicate": options.on_duplicate,
        "time_limit": limit
        and f"{limit.days} days {limit.seconds} seconds {limit.microseconds} microseconds",
        "required_keys": task_type.required_keys,
        "payload_schema": task_type.payload_schema,
    }
