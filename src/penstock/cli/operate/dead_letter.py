"""Shows one dead letter to people: what it is, why it died, the error of every attempt, and what to type."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from penstock.cli import output
from penstock.observe.formats import escape

WHY = {
    "exhausted": "it has used up its attempts",
    "not_retriable": "its error is permanent and another attempt would not help",
    "quarantined": "the workers that ran it were lost",
}


def letter_lines(letter: Mapping[str, Any]) -> Iterator[str]:
    """The dead letter as returned by `queues.show_dead`."""
    task_id, reason = letter["task_id"], str(letter["reason"])
    attempts, losses = (
        output.count(letter["attempts"], "attempt"),
        output.count(letter["losses"], "lost worker"),
    )
    yield f"Task {task_id} ({escape(letter['task_type'])}) is dead: {WHY.get(reason, reason)} ({reason})."
    yield ""
    facts = {
        "died": _time(letter["died_at"]),
        "after": f"{attempts}, {losses}",
        "queue": f"{letter['queue']}, priority {letter['priority']}",
        "tenant": letter.get("tenant_id"),
        "enqueued": _time(letter["enqueued_at"]),
        "fingerprint": letter["fingerprint"],
        "payload": json.dumps(letter["payload"], ensure_ascii=False),
        "last error": f"{letter['error_code']}: {letter['error_message']}",
    }
    for name, value in facts.items():
        yield f"{name:<12}{output.cell(value)}"
    yield ""
    errors = letter["errors"]
    if errors:
        yield f"{output.count(len(errors), 'error')}, first attempt first:"
        yield from _errors(errors)
        yield ""
    yield f"Fix the cause, then run: penstock dead replay {task_id}"
    yield f"To replay all with the same cause: penstock dead replay --fingerprint {letter['fingerprint']}"


def _errors(errors: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Each error once with its traceback; a repeated error is shown as such."""
    before: tuple[object, ...] | None = None
    for error in errors:
        frames = (error["details"] or {}).get("frames", [])
        same = (error["error_code"], error["error_message"], frames)
        yield (
            f"  attempt {error['attempt']}, {_time(error['occurred_at'])}, worker {error['worker_id']}: "
            + (
                "the same error"
                if same == before
                else escape(f"{error['error_code']}: {error['error_message']}")
            )
        )
        if same != before:
            yield from (f"      {escape(frame)}" for frame in frames)
        before = same


def _time(value: object) -> str:
    return output.cell(datetime.fromisoformat(str(value)))
