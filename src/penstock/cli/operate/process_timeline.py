"""The timeline of a process: when it started, each attempt with its outcome, and the next check."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from penstock.processes.operation_rows import AttemptRow, ShownProcess

TO_COME = ("ready", "waiting", "parked", "running")
"""The states of a task that has not ended."""


@dataclass(frozen=True, slots=True)
class Moment:
    """One entry of the timeline, as in its JSON."""

    at: datetime
    event: str
    attempt: int | None = None
    task_id: int | None = None
    task_state: str | None = None
    message: str | None = None


def timeline(shown: ShownProcess) -> list[Moment]:
    """In the order of events; the next check, which is still to come, is last."""
    past = sorted(_past(shown), key=lambda moment: moment.at)
    if shown.next_check_at is None:
        return past
    return [
        *past,
        Moment(
            shown.next_check_at,
            "next_check",
            task_id=shown.supervisor_task_id,
            task_state=shown.supervisor_task_state,
            message=f"{shown.late_seconds:,.0f} s late" if shown.late_seconds else None,
        ),
    ]


def verdict(shown: ShownProcess) -> str:
    """The state in words, with the reason if the process is stuck."""
    counted = [attempt for attempt in shown.attempts if not attempt.before_restart]
    match shown.state:
        case "open" if shown.supervisor_task_state not in TO_COME:
            return "open, but no check is scheduled: a worker schedules one within minutes"
        case "open" | "succeeded":
            return shown.state
        case "failed" if any(attempt.retriable is False for attempt in counted):
            return "failed: its last failure is permanent"
        case "failed" if counted:
            return f"failed: its {shown.max_attempts} attempts are used up"
        case "failed":
            return "failed: it was given up before the first attempt"


def _past(shown: ShownProcess) -> Iterator[Moment]:
    yield Moment(shown.created_at, "created")
    before = [attempt for attempt in shown.attempts if attempt.before_restart]
    after = shown.attempts[len(before) :]
    for attempt in before:
        yield from _of(attempt)
    # The time of a restart is not stored; an attempt follows at once.
    restarted_at = shown.opened_at or next((attempt.started_at for attempt in after), None)
    if before and restarted_at is not None:
        yield Moment(restarted_at, "restarted", message="earlier failures no longer count")
    for attempt in after:
        yield from _of(attempt)


def _of(attempt: AttemptRow) -> Iterator[Moment]:
    yield Moment(attempt.started_at, "attempt_started", attempt.number, attempt.task_id, attempt.task_state)
    if attempt.outcome is not None and attempt.ended_at is not None:
        message = attempt.error_message
        if attempt.retriable is False:
            message = f"{message} (permanent)"
        yield Moment(attempt.ended_at, f"attempt_{attempt.outcome}", attempt.number, message=message)
