"""The operator's SQL functions in Python: inspect, pause, limit, cancel, retry, replay, purge."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import cast

from penstock.db import Connection
from penstock.errors import UnknownQueue
from penstock.queue.operator_rows import (
    Broken,
    Cause,
    DeadFilter,
    DeadRow,
    DeadTuples,
    HorizonPin,
    Limit,
    PartitionRow,
    QueueStats,
    ScheduleRow,
    TaskReason,
    TaskRow,
    WorkerRow,
)

LIMITS = "select queue, scope, max_running, rate_count, extract(epoch from rate_period)::float8, rate_burst"
LIST_TASKS = (
    "select task_id, task_type, queue, state, attempt, enqueued_at, at, worker_id"
    " from queues.list_tasks($1, $2, $3, $4)"
)
WORKERS = (
    "select worker_id, worker_name, queue_names, started_at, silent_seconds, lost_at, leases"
    " from queues.workers()"
)
ENQUEUE = (
    "select queues.enqueue(_task_type => $1, _payload => $2, _queue => $3, _priority => $4,"
    " _scheduled_at => $5)"
)
PUT_LIMITS = "select queues.put_limits($1, $2, $3, $4, $5, $6, $7)"
FILTER = (
    "_task_ids => $1, _task_type => $2, _fingerprint => $3, _error_code => $4, _reason => $5,"
    " _died_before => $6"
)


class Operations:
    """An operator's connection; every call is one statement in its own transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def stop_worker(self, worker_id: int, by: str | None = None) -> bool:
        """Ask a worker to stop as SIGTERM would; False if it has ended or was asked before."""
        return bool(await self._connection.fetchval("select queues.ask_to_stop($1, $2)", worker_id, by))

    async def clock(self) -> datetime:
        return cast("datetime", await self._connection.fetchval("select internal.clock()"))

    async def stats(self, queue: str | None = None) -> list[QueueStats]:
        rows = await self._connection.fetch("select * from queues.stats($1)", queue)
        if queue is not None and not rows:
            raise UnknownQueue(
                f"there is no queue {queue!r}",
                "queue",
                "List the queues: penstock queue list. A worker creates the queues it serves",
            )
        return [QueueStats(*row) for row in rows]

    async def pause(self, queue: str, by: str | None = None) -> None:
        await self._connection.execute("select queues.pause($1, $2)", queue, by)

    async def resume(self, queue: str) -> None:
        await self._connection.execute("select queues.resume($1)", queue)

    async def limits(self, queue: str, key: str | None = None) -> list[Limit]:
        found = await self.known_limits(queue, key)
        if not found:
            await self.stats(queue)  # an unknown queue is an error
        return found

    async def known_limits(self, queue: str, key: str | None = None) -> list[Limit]:
        """The limits of a queue that is known to exist."""
        rows = await self._connection.fetch(f"{LIMITS} from queues.limits($1, $2)", queue, key)
        return [Limit(*row) for row in rows]

    async def put_limits(self, limit: Limit, key: str | None = None) -> None:
        """Set all limits of one scope (`queue`, `each_key`, or `key` with its key)."""
        seconds = limit.rate_period_seconds
        await self._connection.execute(
            PUT_LIMITS,
            limit.queue,
            limit.scope,
            key,
            limit.max_running,
            limit.rate_count,
            None if seconds is None else timedelta(seconds=seconds),
            limit.rate_burst,
        )

    async def show_task(self, task_id: int) -> dict[str, object]:
        return await self._document("select queues.show_task($1)", task_id)

    async def list_tasks(
        self, state: str, queue: str | None = None, task_type: str | None = None, limit: int = 50
    ) -> list[TaskRow]:
        rows = await self._connection.fetch(LIST_TASKS, state, queue, task_type, limit)
        return [TaskRow(*row) for row in rows]

    async def enqueue(
        self,
        task_type: str,
        payload: Mapping[str, object],
        queue: str | None = None,
        priority: int | None = None,
        scheduled_at: datetime | None = None,
    ) -> int:
        """Enqueue one task of a declared type, whose payload only the database checks."""
        given = (task_type, json.dumps(payload), queue, priority, scheduled_at)
        return cast("int", await self._connection.fetchval(ENQUEUE, *given))

    async def cancel_task(self, task_id: int, reason: str | None = None) -> str:
        """`cancelled`, `requested` (it is running and was asked to stop) or `ended` (it is already over)."""
        if reason is None:
            return cast("str", await self._connection.fetchval("select queues.cancel_task($1)", task_id))
        call = "select queues.cancel_task($1, $2)"
        return cast("str", await self._connection.fetchval(call, task_id, reason))

    async def run_now(self, task_id: int) -> bool:
        return cast("bool", await self._connection.fetchval("select queues.run_now($1)", task_id))

    async def dead_letters(self, chosen: DeadFilter, limit: int = 50) -> list[DeadRow]:
        rows = await self._connection.fetch(
            "select * from queues.dead_letters($1, $2, $3, $4, $5)", *_causes(chosen), limit
        )
        return [DeadRow(*row) for row in rows]

    async def causes(self, chosen: DeadFilter, limit: int = 50) -> list[Cause]:
        """Dead letters counted by fingerprint, the most frequent first."""
        rows = await self._connection.fetch(
            "select * from queues.dead_by_fingerprint($1, $2, $3, $4, $5)", *_causes(chosen), limit
        )
        return [Cause(*row) for row in rows]

    async def show_dead(self, task_id: int) -> dict[str, object]:
        return await self._document("select queues.show_dead($1)", task_id)

    async def count_dead(self, chosen: DeadFilter) -> int:
        call = f"select queues.count_dead({FILTER})"
        return cast("int", await self._connection.fetchval(call, *_filter(chosen)))

    async def replay(self, chosen: DeadFilter, limit: int = 10_000) -> list[int]:
        call = f"select queues.replay({FILTER}, _limit => $7)"
        return cast("list[int]", await self._connection.fetchval(call, *_filter(chosen), limit))

    async def purge_dead(self, chosen: DeadFilter) -> int:
        call = f"select queues.purge_dead({FILTER})"
        return cast("int", await self._connection.fetchval(call, *_filter(chosen)))

    async def schedules(self) -> list[ScheduleRow]:
        return [ScheduleRow(*row) for row in await self._connection.fetch("select * from queues.schedules()")]

    async def run_schedule(self, name: str) -> int:
        return cast("int", await self._connection.fetchval("select queues.run_schedule($1)", name))

    async def set_schedule(self, name: str, enabled: bool) -> None:
        await self._connection.execute("select queues.set_schedule($1, $2)", name, enabled)

    async def explain(self, task_id: int) -> list[TaskReason]:
        rows = await self._connection.fetch(
            "select reason, explanation, remedy from queues.explain($1)", task_id
        )
        return [TaskReason(*row) for row in rows]

    async def workers(self) -> list[WorkerRow]:
        rows = await self._connection.fetch(WORKERS)
        return [WorkerRow(*row) for row in rows]

    async def horizon_pins(self) -> list[HorizonPin]:
        return [
            HorizonPin(*row) for row in await self._connection.fetch("select * from queues.horizon_pins()")
        ]

    async def audit_invariants(self) -> list[Broken]:
        return [
            Broken(*row) for row in await self._connection.fetch("select * from queues.audit_invariants()")
        ]

    async def dead_tuples(self) -> list[DeadTuples]:
        return [
            DeadTuples(*row) for row in await self._connection.fetch("select * from queues.dead_tuples()")
        ]

    async def partitions(self) -> list[PartitionRow]:
        return [
            PartitionRow(*row) for row in await self._connection.fetch("select * from queues.partitions()")
        ]

    async def _document(self, call: str, task_id: int) -> dict[str, object]:
        return cast("dict[str, object]", json.loads(str(await self._connection.fetchval(call, task_id))))


def _causes(chosen: DeadFilter) -> tuple[str | None, ...]:
    return chosen.task_type, chosen.fingerprint, chosen.error_code, chosen.reason


def _filter(chosen: DeadFilter) -> tuple[object, ...]:
    return list(chosen.task_ids) or None, *_causes(chosen), chosen.died_before
