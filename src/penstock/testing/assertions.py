"""Assertions on the tasks that code under test has enqueued."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from penstock.engine.tasks import Tasks
from penstock.queue.task_type import TaskType
from penstock.testing.enqueued_tasks import EnqueuedTask, enqueued

SHOWN = 10


@dataclass(frozen=True, slots=True)
class Expected:
    """What a task must be like; a mapping as payload names the keys that matter."""

    payload: dict[str, Any] | None
    whole: bool
    delay: timedelta | None
    at: datetime | None
    queue: str | None
    priority: int | None
    tenant_id: UUID | None

    def differences(self, task: EnqueuedTask) -> list[str]:
        """The fields of the task that are not as expected; the payload without its value."""
        found = []
        if self.payload is not None:
            kept = task.payload if self.whole else {name: task.payload.get(name) for name in self.payload}
            if kept != self.payload or not self.payload.keys() <= task.payload.keys():
                found.append("payload")
        for name, wanted, has in (
            ("delay", self.delay, task.delay),
            ("due_at", self.at, task.due_at),
            ("queue", self.queue, task.queue),
            ("priority", self.priority, task.priority),
            ("tenant_id", self.tenant_id, task.tenant_id),
        ):
            if wanted is not None and wanted != has:
                found.append(f"{name}={_shown(has)}")
        return found

    def __str__(self) -> str:
        parts = [] if self.payload is None else [f"payload={self.payload!r}"]
        parts += [
            f"{name}={_shown(wanted)}"
            for name in ("delay", "at", "queue", "priority", "tenant_id")
            if (wanted := getattr(self, name)) is not None
        ]
        return " with " + ", ".join(parts) if parts else ""


def assert_enqueued(
    app: Tasks,
    task_type: TaskType[Any] | str,
    *,
    payload: Any = None,
    count: int | None = None,
    delay: timedelta | float | None = None,
    at: datetime | None = None,
    queue: str | None = None,
    priority: int | None = None,
    tenant_id: UUID | None = None,
) -> list[EnqueuedTask]:
    """Fail unless such a task waits to run, or exactly `count` of them; returns those that do.

    A mapping as `payload` names the keys that matter; an object of the payload's type must be equal whole.
    """
    __tracebackhide__ = True
    expected = Expected(
        *_payload(task_type, payload),
        delay=timedelta(seconds=delay) if isinstance(delay, int | float) else delay,
        at=at,
        queue=queue,
        priority=priority,
        tenant_id=tenant_id,
    )
    name = task_type.name if isinstance(task_type, TaskType) else task_type
    everything = enqueued(app)
    of_type = [task for task in everything if task.task_type == name]
    found = [task for task in of_type if not expected.differences(task)]
    if (count is None and found) or count == len(found):
        return found
    asked = f"{name!r}{expected}"
    told = (
        f"no task {asked} is enqueued"
        if count is None
        else f"tasks {asked}: {count} should be enqueued, {len(found)} are"
    )
    raise AssertionError("\n".join([told, *_listed(everything, name, expected)]))


def assert_not_enqueued(
    app: Tasks, task_type: TaskType[Any] | str, *, payload: Any = None, queue: str | None = None
) -> None:
    """Fail if such a task waits to run."""
    __tracebackhide__ = True
    assert_enqueued(app, task_type, payload=payload, queue=queue, count=0)


def _payload(task_type: TaskType[Any] | str, payload: Any) -> tuple[dict[str, Any] | None, bool]:
    """The payload as the database keeps it, and whether it must be equal as a whole."""
    if payload is None or isinstance(payload, Mapping):
        return (None if payload is None else dict(payload)), False
    if isinstance(task_type, str):
        raise TypeError(f"give the payload of {task_type!r} as a mapping")
    whole: dict[str, Any] = json.loads(task_type.encode([payload]))[0]
    return whole, True


def _listed(everything: list[EnqueuedTask], name: str, expected: Expected) -> list[str]:
    """What is there instead: the tasks of the type with what differs, the others by number."""
    of_type = [task for task in everything if task.task_type == name]
    lines = [f"enqueued of this type: {len(of_type)}"]
    for task in of_type[:SHOWN]:
        differences = expected.differences(task)
        told = "as expected" if not differences else "differs in " + ", ".join(differences)
        lines.append(f"  task {task.task_id} ({task.state}) payload={task.payload!r}; {told}")
    if len(of_type) > SHOWN:
        lines.append(f"  and {len(of_type) - SHOWN} more")
    others = Counter(task.task_type for task in everything if task.task_type != name)
    if others:
        lines.append("of other types: " + ", ".join(f"{each!r} ({n})" for each, n in others.items()))
    lines.append("Tasks that have run, and those of a transaction that has not committed, are not counted.")
    return lines


def _shown(value: object) -> str:
    return f"{value.total_seconds():g} s" if isinstance(value, timedelta) else str(value)
