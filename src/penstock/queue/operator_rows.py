"""Rows shown to operators; the field names are the keys in the command line's JSON."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, slots=True)
class QueueStats:
    queue: str
    paused: bool
    ready: int
    running: int
    waiting: int
    parked: int
    dead: int
    oldest_ready_seconds: float | None
    max_running: int | None
    rate: str | None
    workers: int
    idle_workers: int


@dataclass(frozen=True, slots=True)
class Limit:
    """Scope is `queue`, `each_key`, or `key` and the key's hash; null is no limit."""

    queue: str
    scope: str
    max_running: int | None = None
    rate_count: int | None = None
    rate_period_seconds: float | None = None
    rate_burst: int | None = None


@dataclass(frozen=True, slots=True)
class TaskRow:
    """`at` is when it was claimed, is due, died or ended."""

    task_id: int
    task_type: str
    queue: str
    state: str
    attempt: int
    enqueued_at: datetime
    at: datetime | None
    worker_id: int | None


@dataclass(frozen=True, slots=True)
class DeadRow:
    task_id: int
    task_type: str
    queue: str
    reason: str
    attempts: int
    losses: int
    error_code: str
    error_message: str
    fingerprint: str
    died_at: datetime


@dataclass(frozen=True, slots=True)
class Cause:
    """Dead letters of one fingerprint."""

    fingerprint: str
    task_type: str
    error_code: str
    error_message: str
    letters: int
    first_died_at: datetime
    last_died_at: datetime
    last_task_id: int


@dataclass(frozen=True, slots=True)
class DeadFilter:
    """Selects dead letters: every given part must match; none given means all."""

    task_ids: tuple[int, ...] = field(default=())
    task_type: str | None = None
    fingerprint: str | None = None
    error_code: str | None = None
    reason: str | None = None
    died_before: datetime | None = None


@dataclass(frozen=True, slots=True)
class ScheduleRow:
    schedule_name: str
    cron: str
    timezone: str
    task_type: str
    queue: str | None
    enabled: bool
    next_at: datetime
    last_at: datetime | None
    last_task_id: int | None


@dataclass(frozen=True, slots=True)
class TaskReason:
    """Why a task is not running, and what to do about it."""

    reason: str
    explanation: str
    remedy: str


@dataclass(frozen=True, slots=True)
class WorkerRow:
    worker_id: int
    worker_name: str
    queue_names: list[str]
    started_at: datetime
    silent_seconds: float
    lost_at: datetime | None
    leases: int


@dataclass(frozen=True, slots=True)
class HorizonPin:
    """A session that keeps vacuum from removing dead rows."""

    kind: str
    who: str
    pid: int | None
    age_xids: int
    since: datetime | None
    doing: str | None


@dataclass(frozen=True, slots=True)
class Broken:
    """An invariant of the queue that the data violates."""

    promise: str
    broken: int


@dataclass(frozen=True, slots=True)
class DeadTuples:
    table_name: str
    live: int
    dead: int


@dataclass(frozen=True, slots=True)
class PartitionRow:
    table_name: str
    current_child: str | None
    ahead: int
    used: float | None
