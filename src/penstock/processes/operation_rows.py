"""Rows of supervised processes shown to operators; the field names are keys in the command line's JSON."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

ProcessState = Literal["open", "succeeded", "failed"]
ProcessOrder = Literal["created", "-created"]
Finding = Literal["open", "failed", "swept", "unattended"]


@dataclass(frozen=True, slots=True)
class ProcessRow:
    """A process in a list. A `failed` one is not retried; the message is that of its last failure."""

    id: str
    process: str
    root_id: int
    tenant_id: UUID
    tenant: str | None
    state: ProcessState
    attempts: int
    failed_attempts: int
    created_at: datetime
    ended_at: datetime | None
    next_check_at: datetime | None
    swept: int | None
    error_message: str | None


@dataclass(frozen=True, slots=True)
class AttemptRow:
    """One attempt; those before a restart no longer count towards `max_attempts`."""

    number: int
    attempt_id: int
    task_id: int | None
    task_state: str | None
    """The state of its task in the queue; None if it has no task or its history was deleted."""
    started_at: datetime
    outcome: Literal["succeeded", "failed"] | None
    ended_at: datetime | None
    error_message: str | None
    retriable: bool | None
    before_restart: bool


@dataclass(frozen=True, slots=True)
class ShownProcess:
    """One process in full. The fields about the next check are None once it has ended."""

    id: str
    process: str
    root_id: int
    channel: str
    tenant_id: UUID
    tenant: str | None
    about: dict[str, str | int]
    """The ids of its subject, by column."""
    state: ProcessState
    created_at: datetime
    opened_at: datetime | None
    """When it was last started."""
    next_check_at: datetime | None
    late_seconds: float | None
    supervisor_task_id: int | None
    supervisor_task_state: str | None
    swept: int | None
    max_attempts: int
    attempts: list[AttemptRow]


@dataclass(frozen=True, slots=True)
class UnhealthyProcess:
    """How many instances of a process are in this state, and the newest of them."""

    finding: Finding
    process: str
    roots: int
    root_id: int

    @property
    def example(self) -> str:
        return f"{self.process}/{self.root_id}"
