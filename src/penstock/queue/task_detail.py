"""One task as people see it: its attempts joined with their errors, and its payload without secrets."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from penstock.observe.cleaning import clean_text
from penstock.observe.payloads import redacted
from penstock.queue.look_rows import TaskAttempt


def shown_payload(payload: object) -> tuple[object, bool]:
    """The payload without its secrets, and whether something was left out."""
    return redacted(payload)


def attempts_of(shown: Mapping[str, Any]) -> list[TaskAttempt]:
    """The attempts of `queues.show_task`, oldest first, with errors and how long they waited and ran."""
    errors = {error["attempt_id"]: error for error in shown["errors"] if error["attempt_id"] is not None}
    could_run = datetime.fromisoformat(shown["scheduled_at"])
    attempts = []
    for row in shown["attempts"]:
        error = errors.get(row["attempt_id"])
        claimed = None if row["claimed_at"] is None else datetime.fromisoformat(row["claimed_at"])
        closed = datetime.fromisoformat(row["closed_at"])
        attempts.append(
            TaskAttempt(
                attempt_id=row["attempt_id"],
                attempt=row["attempt"],
                outcome=row["outcome"],
                worker_id=row["worker_id"],
                worker=row["worker"],
                claimed_at=claimed,
                closed_at=closed,
                waited_seconds=None if claimed is None else max(0.0, (claimed - could_run).total_seconds()),
                ran_seconds=None if claimed is None else max(0.0, (closed - claimed).total_seconds()),
                error_code=error and error["error_code"],
                error_message=error and clean_text(error["error_message"]),
                traceback=error and _frames(error["details"]),
                versions=row["versions"],
            )
        )
        could_run = closed
    return attempts


def _frames(details: object) -> list[str] | None:
    """The frames a worker kept of the exception, outermost first."""
    frames = details.get("frames") if isinstance(details, dict) else None
    return [clean_text(frame) for frame in frames] if isinstance(frames, list) else None
