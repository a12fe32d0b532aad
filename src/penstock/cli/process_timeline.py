"""One timeline of a process: when it was asked for, each attempt and its outcome, and the next look."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from penstock.queue.process_rows import AttemptRow, ShownProcess

TO_COME = ("ready", "waiting", "parked", "running")
"""The states of a task that is not over."""


@dataclass(frozen=True, slots=True)
class Moment:
    """The keys of one entry of the timeline's JSON."""

    at: datetime
    event: str
    attempt: int | None = None
    task_id: int | None = None
    task_state: str | None = None
    message: str | None = None


def timeline(shown: ShownProcess) -> list[Moment]:
    """In the order things happened; the next check, which is to come, is the last."""
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
    """Its state in words, and why when it is stuck."""
    counted = [attempt for attempt in shown.attempts if not attempt.before_restart]
    match shown.state:
        case "open" if shown.supervisor_task_state not in TO_COME:
            return "open, but its supervisor is not to come: the next sweep of a worker sends it again"
        case "open" | "succeeded":
            return shown.state
        case "failed" if any(attempt.retriable is False for attempt in counted):
            return "failed: it is stuck, its last failure is not one to try again"
        case "failed" if counted:
            return f"failed: it is stuck, its {shown.max_attempts} attempts are used up"
        case "failed":
            return "failed: it was given up before its first attempt"


def _past(shown: ShownProcess) -> Iterator[Moment]:
    yield Moment(shown.created_at, "created")
    before = [attempt for attempt in shown.attempts if attempt.before_restart]
    after = shown.attempts[len(before) :]
    for attempt in before:
        yield from _of(attempt)
    # Nobody keeps when it was started again; an attempt follows at once.
    restarted_at = shown.opened_at or next((attempt.started_at for attempt in after), None)
    if before and restarted_at is not None:
        yield Moment(restarted_at, "restarted", message="what failed before no longer counts")
    for attempt in after:
        yield from _of(attempt)


def _of(attempt: AttemptRow) -> Iterator[Moment]:
    yield Moment(attempt.started_at, "attempt_started", attempt.number, attempt.task_id, attempt.task_state)
    if attempt.outcome is not None and attempt.ended_at is not None:
        message = attempt.error_message
        if attempt.retriable is False:
            message = f"{message} (not retriable)"
        yield Moment(attempt.ended_at, f"attempt_{attempt.outcome}", attempt.number, message=message)
