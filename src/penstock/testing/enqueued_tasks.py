"""The tasks that wait to run, as a test sees them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal
from uuid import UUID

from penstock.db import Record
from penstock.engine.tasks import Tasks
from penstock.model import TaskId
from penstock.queue.task_type import TaskType
from penstock.testing.binding import admin_url_of
from penstock.testing.blocking import run_blocking
from penstock.testing.databases import connected

_READ = """
select
  t.task_id, t.task_type, coalesce(t.payload, t.large_payload::jsonb) as payload, t.enqueued_at,
  coalesce(s.due_at, t.scheduled_at) as due_at, t.scheduled_at, q.queue_name, t.priority,
  t.tenant_id, s.state, s.attempt
from (
  select r.task_id, 'ready' as state, r.failures + 1 as attempt, null::timestamptz as due_at
  from queues.ready r
  union all
  select w.task_id, 'waiting', w.failures + 1, w.due_at from queues.waiting w where w.task_id is not null
  union all
  select p.task_id, 'parked', p.failures + 1, null from queues.parked p
) s
cross join lateral queues.find_task(s.task_id) t
join queues.queue q on q.queue_id = t.queue_id
order by t.task_id
"""


@dataclass(frozen=True, slots=True)
class EnqueuedTask:
    """A task that has not run to its end: ready, delayed, between attempts, or held back by a key."""

    task_id: TaskId
    task_type: str
    payload: dict[str, Any]
    queue: str
    priority: int
    tenant_id: UUID | None
    enqueued_at: datetime
    delay: timedelta
    """How long after `enqueued_at` the producer asked it to run."""
    due_at: datetime
    """When it runs next; later than the delay says if an attempt failed or was snoozed."""
    state: Literal["ready", "waiting", "parked"]
    attempt: int
    """Which run comes next, from one."""


def enqueued(app: Tasks, task_type: TaskType[Any] | str | None = None) -> list[EnqueuedTask]:
    """The tasks of this type, or of all types, in the order they were enqueued; blocks for a moment.

    Those of a transaction that has not committed are not there yet.
    """
    name = task_type.name if isinstance(task_type, TaskType) else task_type
    return [task for task in run_blocking(_read(admin_url_of(app))) if name in (None, task.task_type)]


async def _read(admin_url: str) -> list[EnqueuedTask]:
    async with connected(admin_url) as admin:
        return [_task(row) for row in await admin.fetch(_READ)]


def _task(row: Record) -> EnqueuedTask:
    return EnqueuedTask(
        task_id=row["task_id"],
        task_type=row["task_type"],
        payload=json.loads(row["payload"]),
        queue=row["queue_name"],
        priority=row["priority"],
        tenant_id=row["tenant_id"],
        enqueued_at=row["enqueued_at"],
        delay=row["scheduled_at"] - row["enqueued_at"],
        due_at=row["due_at"],
        state=row["state"],
        attempt=row["attempt"],
    )
