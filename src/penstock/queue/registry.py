"""The task types and schedules an app declares."""

from __future__ import annotations

from typing import Any

from penstock.errors import InvalidArgument, UnknownTaskType
from penstock.queue.schedule import Schedule
from penstock.queue.task_type import TaskType


class Registry:
    """Names are unique; declaring one twice is an error, not an update."""

    def __init__(self) -> None:
        self.types: dict[str, TaskType[Any]] = {}
        self.schedules: dict[str, Schedule] = {}

    def add(self, task_type: TaskType[Any]) -> None:
        """Declare a task type."""
        if task_type.name in self.types:
            raise InvalidArgument(
                f"there are two task types {task_type.name!r}", "task_type", "Give one of them another name."
            )
        self.types[task_type.name] = task_type

    def add_schedule(self, schedule: Schedule) -> None:
        """Declare a schedule of a declared task type."""
        if schedule.task_type not in self.types:
            raise UnknownTaskType(
                f"the schedule {schedule.name!r} names {schedule.task_type!r}, which is not declared",
                "task_type",
                "Declare the task type before its schedule.",
            )
        if schedule.name in self.schedules:
            raise InvalidArgument(
                f"there are two schedules {schedule.name!r}", "name", "Give one of them another name."
            )
        self.schedules[schedule.name] = schedule

    def queues(self) -> list[str]:
        """The queues the declared types use by default, sorted."""
        return sorted({str(task_type.options.queue) for task_type in self.types.values()})
