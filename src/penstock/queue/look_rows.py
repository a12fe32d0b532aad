"""Rows of the queue as people look at them; the API and `penstock top` return them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

WorkerState = Literal["alive", "stopping", "silent", "lost", "stopped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueFigures:
    """A queue now. A tenant sees counts of its own tasks; `approximate`: one of them is an estimate."""

    queue: str
    paused: bool
    paused_by: str | None
    paused_at: datetime | None
    ready: int
    running: int
    waiting: int
    parked: int
    dead: int
    approximate: bool
    oldest_ready_seconds: float | None
    max_running: int | None
    rate: str | None
    workers: int
    idle_workers: int
    per_minute: float
    """Tasks completed per minute, over the last five."""
    p95_wait_seconds: float | None
    """Nineteen of twenty tasks of the last hour waited at most this long."""
    p95_run_seconds: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueSample:
    """A step of a queue's history; depths are null where nobody sampled them."""

    at: datetime
    ready: int | None
    running: int | None
    waiting: int | None
    dead: int | None
    done: int
    failed: int
    p95_wait_seconds: float | None
    p95_run_seconds: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueLimit:
    """A limit of the queue, of each key, or of the key with this hash; null is no limit."""

    scope: Literal["queue", "each_key", "key"]
    key_hash: str | None
    max_running: int | None
    rate_count: int | None
    rate_period_seconds: float | None
    rate_burst: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueDetail(QueueFigures):
    limits: list[QueueLimit]
    history: list[QueueSample]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskItem:
    """A task in a list; `at` is when it was claimed, is due, died or ended."""

    task_id: int
    task_type: str
    queue: str
    state: str
    attempt: int
    tenant_id: UUID | None
    tenant: str | None = None
    enqueued_at: datetime
    at: datetime | None
    worker_id: int | None
    worker: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskPage:
    """One page of tasks. A page may be short, or empty, before the last one: `cursor` is null at the end."""

    items: list[TaskItem]
    cursor: str | None
    total: int
    approximate: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenLease:
    lease_id: int
    worker_id: int
    worker: str | None
    claimed_at: datetime
    deadline_at: datetime | None
    attempt: int
    losses: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskAttempt:
    """A closed attempt, oldest first, with the versions its worker ran."""

    attempt_id: int
    attempt: int
    outcome: str
    worker_id: int | None
    worker: str | None
    claimed_at: datetime | None
    closed_at: datetime
    waited_seconds: float | None
    """From when it could run (the first: when it was scheduled; others: when the one before ended)."""
    ran_seconds: float | None
    error_code: str | None
    error_message: str | None
    traceback: list[str] | None
    versions: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskExplanation:
    """Why a task is not running, what to do, and the console's page of whatever holds it up."""

    reason: str
    explanation: str
    remedy: str
    link: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskDetail:
    task_id: int
    task_type: str
    state: str | None
    queue: str
    priority: int
    tenant_id: UUID | None
    tenant: str | None = None
    enqueued_at: datetime
    scheduled_at: datetime
    due_at: datetime | None
    payload: Any
    """Without its secrets; `POST /v1/tasks/{id}/reveal` shows all of it."""
    payload_redacted: bool
    has_unique_key: bool
    has_limit_key: bool
    lease: OpenLease | None
    attempts: list[TaskAttempt]
    explanation: list[TaskExplanation] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskTypeItem:
    """A declared task type; `schema` is the JSON schema of its payload, null if no worker stated it."""

    task_type: str
    queue: str
    priority: int
    max_attempts: int
    required_keys: list[str]
    schema: dict[str, Any] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerItem:
    """A worker; `stopping` was asked to stop, `silent` missed its heartbeats, and of a `lost` one the leases
    were taken back."""

    worker_id: int
    worker: str
    queues: list[str]
    started_at: datetime
    silent_seconds: float
    state: WorkerState
    leases: int
    versions: dict[str, str]
