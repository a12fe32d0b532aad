"""The queue as people look at it: figures and history of queues, pages of tasks, one task, workers, types.

Each call is one or two statements that read along an index; a tenant's connection sees its own tasks only.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from penstock.db import Connection
from penstock.errors import UnknownQueue
from penstock.model.rows import row_from
from penstock.observe.cleaning import clean_text
from penstock.queue.look_rows import (
    QueueDetail,
    QueueFigures,
    QueueLimit,
    QueueSample,
    TaskDetail,
    TaskExplanation,
    TaskItem,
    TaskPage,
    TaskTypeItem,
    WorkerItem,
)
from penstock.queue.operations import Operations
from penstock.queue.task_detail import attempts_of, shown_payload

PAGE = "select * from queues.page_tasks($1, $2, $3, null, $4, $5)"


class Looks:
    """A connection of a tenant's transaction, or an operator's."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def queues(self) -> list[QueueFigures]:
        rows = await self._connection.fetch("select * from queues.figures()")
        return [QueueFigures(**dict(row)) for row in rows]

    async def queue(self, name: str, hours: int = 1) -> QueueDetail:
        row = await self._connection.fetchrow("select * from queues.figures($1)", name)
        if row is None:
            raise UnknownQueue(f"there is no queue {name!r}", "queue", "List the queues: GET /v1/queues")
        samples = await self._connection.fetch("select * from queues.history($1, $2)", name, hours)
        limits = await Operations(self._connection).known_limits(name)
        return QueueDetail(
            **dict(row),
            limits=[
                QueueLimit(
                    scope=cast("Any", scope),
                    key_hash=key or None,
                    max_running=limit.max_running,
                    rate_count=limit.rate_count,
                    rate_period_seconds=limit.rate_period_seconds,
                    rate_burst=limit.rate_burst,
                )
                for limit in limits
                for scope, _, key in (limit.scope.partition(" "),)
            ],
            history=[QueueSample(**dict(sample)) for sample in samples],
        )

    async def tasks(
        self,
        state: str,
        queue: str | None = None,
        task_type: str | None = None,
        *,
        cursor: str | None = None,
        limit: int = 50,
    ) -> TaskPage:
        """One page; the count is exact up to 10,000."""
        rows = await self._connection.fetch(PAGE, state, queue, task_type, cursor, limit)
        counted = await self._connection.fetchrow(
            "select total, approximate from queues.count_tasks($1, $2, $3)", state, queue, task_type
        )
        assert counted is not None
        found = [dict(row) for row in rows]
        stopped = bool(found) and found[-1]["task_id"] is None
        more = stopped or len(found) == limit
        return TaskPage(
            items=[
                TaskItem(**{name: value for name, value in row.items() if name != "place"})
                for row in found
                if row["task_id"] is not None
            ],
            cursor=found[-1]["place"] if more else None,
            total=counted["total"],
            approximate=counted["approximate"],
        )

    async def task(self, task_id: int) -> TaskDetail:
        """One task with its attempts and why it is where it is; secrets in its payload are left out."""
        shown: dict[str, Any] = await Operations(self._connection).show_task(task_id)
        payload, is_redacted = shown_payload(shown["payload"])
        reasons = await self._connection.fetch("select * from queues.explain($1)", task_id)
        known = {**shown, "payload": payload, "payload_redacted": is_redacted, "attempts": []}
        return replace(
            row_from(TaskDetail, known),
            attempts=attempts_of(shown),
            explanation=[
                TaskExplanation(**{**dict(row), "explanation": clean_text(row["explanation"])})
                for row in reasons
            ],
        )

    async def reveal(self, task_id: int, by: str) -> object:
        """The whole payload; leaves an audit row."""
        call = "select queues.reveal_task($1, $2)"
        return json.loads(str(await self._connection.fetchval(call, task_id, by)))

    async def repeat(self, task_id: int, payload: dict[str, Any] | None, by: str) -> int:
        """Enqueue a copy of a task, with this payload or its own; returns the new task."""
        given = None if payload is None else json.dumps(payload)
        call = "select queues.repeat_task($1, $2, $3)"
        return cast("int", await self._connection.fetchval(call, task_id, given, by))

    async def task_types(self) -> list[TaskTypeItem]:
        rows = await self._connection.fetch("select * from queues.task_types()")
        return [
            TaskTypeItem(
                task_type=row["task_type"],
                queue=row["queue"],
                priority=row["priority"],
                max_attempts=row["max_attempts"],
                required_keys=row["required_keys"],
                schema=None if row["payload_schema"] is None else json.loads(row["payload_schema"]),
            )
            for row in rows
        ]

    async def chosen(self, part: str, chosen: Mapping[str, str | None]) -> frozenset[str] | None:
        """What a list's filter selects: workers (by id), queues, inlets or schedules; None without a filter.

        Operations choose by the same function, so that the same words select the same rows.
        """
        given = {name: value for name, value in chosen.items() if value}
        if not given:
            return None
        rows = await self._connection.fetch(
            "select item from queues.find_parts($1, $2)", part, json.dumps(given)
        )
        return frozenset(row[0] for row in rows)

    async def workers(self) -> list[WorkerItem]:
        rows = await self._connection.fetch("select * from queues.workers(true)")
        return [
            WorkerItem(
                worker_id=row["worker_id"],
                worker=row["worker_name"],
                queues=row["queue_names"],
                started_at=row["started_at"],
                silent_seconds=max(0.0, row["silent_seconds"]),
                state=row["state"],
                leases=row["leases"],
                versions=json.loads(row["versions"]),
            )
            for row in rows
        ]
