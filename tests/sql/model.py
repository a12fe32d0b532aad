"""What the queue promises, in plain Python: a pure model that tells what each call must do to each task.

Where SQL is free to choose (which of several tasks gets a limit key's slot, which lane a claim visits first)
the model does not choose; the machine takes the choice from the database and checks that it was allowed.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Mode: TypeAlias = Literal["skip", "replace", "coalesce"]
UniqueKey: TypeAlias = tuple[int | None, str, str]
Place: TypeAlias = Literal["waiting", "admitted", "parked", "running", "dead", "ended"]
"""admitted: through the unique key's gate, so ready, or parked behind its limit key."""

QUEUES = ("near", "far")
LEASE_SECONDS = 30.0
DEADLINE_SLACK = 30.0
SLOTS = {"one": 1, "two": 2}
"""max_running of each limit key."""


@dataclass(frozen=True, slots=True)
class TaskType:
    name: str
    delays: tuple[float, ...]
    max_losses: int

    def retry_delay(self, failures: int) -> float | None:
        return self.delays[failures] if failures < len(self.delays) else None


TYPES = {
    "patient": TaskType("patient", (0, 5, 30), 3),
    "eager": TaskType("eager", (0, 0), 2),
}


@dataclass(slots=True)
class Task:
    task_id: int
    task_type: TaskType
    queue: str
    priority: int
    tenant: int | None
    unique_key: UniqueKey | None
    mode: Mode
    limit_key: str | None
    time_limit: float | None
    due: float
    ticket: int
    place: Place = "waiting"
    failures: int = 0
    losses: int = 0
    returned: bool = False
    reason: str | None = None
    lease_id: int | None = None
    worker_id: int | None = None
    deadline: float | None = None
    died: float = 0.0
    lost_with: set[int] = field(default_factory=set)
    """The workers that were lost with it, ever."""
    outcomes: Counter[str] = field(default_factory=Counter)

    @property
    def keyed(self) -> bool:
        return self.unique_key is not None or self.limit_key is not None


@dataclass(slots=True)
class Worker:
    worker_id: int
    beat: float
    lost: bool = False
    lost_something: bool = False
    """It held a task when it was lost; one that held none says nothing about the tasks of others."""
    lost_at: float = 0.0
    stopped: bool = False

    @property
    def alive(self) -> bool:
        return not self.lost and not self.stopped


class Model:
    """Every task ever accepted, where it must be, and who holds which unique key."""

    def __init__(self) -> None:
        self.now = 0.0
        self.tasks: dict[int, Task] = {}
        self.workers: dict[int, Worker] = {}
        self.leases: dict[int, int] = {}
        self.closed_leases: list[tuple[int, int]] = []
        self.holder: dict[UniqueKey, int] = {}
        self.parked: dict[UniqueKey, int] = {}
        self.freed: dict[str, list[UniqueKey]] = {queue: [] for queue in QUEUES}
        self.paused: set[str] = set()
        self.cancels: dict[int, int] = {}
        self._tickets = 0

    # --- in

    def enqueue(self, task: Task) -> None:
        task.ticket = self._ticket()
        self.tasks[task.task_id] = task
        task.place = "waiting" if task.keyed or task.due > self.now else "admitted"

    # --- the gate of unique keys

    def admit(self, queue: str) -> None:
        for key in list(dict.fromkeys(self.freed[queue])):
            self._hand_over(key)
        due = [
            task
            for task in self.tasks.values()
            if task.place == "waiting" and task.queue == queue and task.due <= self.now
        ]
        for task in sorted(due, key=lambda task: (task.due, task.ticket)):
            self._pass_gate(task)

    def _hand_over(self, key: UniqueKey) -> None:
        self._settle(key)
        if key not in self.holder and key in self.parked:
            task = self.tasks[self.parked.pop(key)]
            self.holder[key] = task.task_id
            task.place = "admitted"

    def _settle(self, key: UniqueKey) -> None:
        for keys in self.freed.values():
            keys[:] = [other for other in keys if other != key]

    def _pass_gate(self, task: Task) -> None:
        key = task.unique_key
        if key is None or self.holder.get(key) == task.task_id:
            task.place = "admitted"
            return
        self._settle(key)
        if key not in self.holder:
            self.holder[key] = task.task_id
            task.place = "admitted"
            return
        holder = self.tasks[self.holder[key]]
        if task.mode == "skip":
            self._end(task, "skipped")
        elif holder.place == "admitted":
            if task.mode == "coalesce":
                self._end(task, "merged")
            else:
                del self.holder[key]
                self._end(holder, "replaced")
                self.holder[key] = task.task_id
                task.place = "admitted"
        elif key not in self.parked:
            self.parked[key] = task.task_id
            task.place = "parked"
        elif task.mode == "coalesce":
            self._end(task, "merged")
        else:
            self._end(self.tasks[self.parked[key]], "replaced")
            self.parked[key] = task.task_id
            task.place = "parked"

    # --- claim and close

    def claimed(self, worker_id: int, lease_id: int, task_id: int) -> None:
        task = self.tasks[task_id]
        assert task.place == "admitted", f"task {task_id} was claimed but is {task.place}"
        assert lease_id not in self.leases, f"lease {lease_id} was issued twice"
        task.place = "running"
        task.lease_id, task.worker_id = lease_id, worker_id
        task.deadline = None if task.time_limit is None else self.now + task.time_limit + DEADLINE_SLACK
        self.leases[lease_id] = task_id

    def held_by(self, worker_id: int, lease_ids: list[int]) -> list[Task]:
        """The tasks that this worker may close by these leases, in order of the lease."""
        return [
            self.tasks[self.leases[lease_id]]
            for lease_id in sorted(set(lease_ids))
            if lease_id in self.leases and self.tasks[self.leases[lease_id]].worker_id == worker_id
        ]

    def running_on(self, worker_id: int) -> list[Task]:
        return [task for task in self.tasks.values() if task.worker_id == worker_id]

    def complete(self, task: Task) -> None:
        self._close(task, "completed")
        self._end(task, None)

    def close_cancelled(self, task: Task) -> None:
        self.cancels.pop(task.task_id, None)
        self._close(task, "cancelled")
        self._end(task, None)

    def fail(self, task: Task, *, final: bool) -> tuple[str, float | None]:
        """The outcome that fail reports and, for a retry, when it is due."""
        self._close(task, "failed")
        task.failures += 1
        if self._stop_asked(task):
            return "cancelled", None
        delay = task.task_type.retry_delay(task.failures)
        if final or delay is None:
            self._bury(task, "not_retriable" if final else "exhausted")
            return "dead", None
        self._return(task, self.now + delay)
        return "retry", self.now + delay

    def snooze(self, task: Task, seconds: float) -> None:
        self._close(task, "snoozed")
        if not self._stop_asked(task):
            self._return(task, self.now + seconds)

    def release(self, task: Task) -> None:
        self._close(task, "released")
        if not self._stop_asked(task):
            self._return(task, self.now)

    # --- lost workers

    def mark_lost(self) -> None:
        for worker in self.workers.values():
            if worker.alive and worker.beat < self.now - LEASE_SECONDS:
                worker.lost = True
                worker.lost_at = self.now
                worker.lost_something = any(
                    task.worker_id == worker.worker_id for task in self.tasks.values()
                )

    def overdue(self) -> set[int]:
        """The tasks whose leases rescue must take."""
        return {
            task.task_id
            for task in self.tasks.values()
            if task.worker_id is not None
            and (
                not self.workers[task.worker_id].alive
                or (task.deadline is not None and task.deadline < self.now)
            )
        }

    def lose(self, task: Task) -> str:
        """The outcome that rescue reports."""
        assert task.worker_id is not None
        task.lost_with.add(task.worker_id)
        self._close(task, "lost")
        if self._stop_asked(task):
            return "cancelled"
        task.losses += 1
        if task.losses >= task.task_type.max_losses * (2 if self._others_were_lost(task) else 1):
            self._bury(task, "quarantined")
            return "quarantined"
        self._return(task, self.now)
        return "returned"

    def _others_were_lost(self, task: Task) -> bool:
        """Within an hour, without this task and without one that was convicted of it."""
        known = task.lost_with.union(
            *(
                other.lost_with
                for other in self.tasks.values()
                if other.reason == "quarantined" and other.died > self.now - 3600
            )
        )
        return any(
            worker.lost_something and worker.lost_at > self.now - 3600 and worker.worker_id not in known
            for worker in self.workers.values()
        )

    # --- operators

    def cancel(self, task: Task) -> str:
        if task.place == "running":
            assert task.lease_id is not None
            self.cancels.setdefault(task.task_id, task.lease_id)
            return "requested"
        if task.place in ("dead", "ended"):
            return "ended"
        self._end(task, "cancelled")
        return "cancelled"

    def replay(self, task: Task) -> None:
        task.failures = task.losses = 0
        task.reason = None
        task.returned = True
        task.due = self.now
        task.ticket = self._ticket()
        task.place = "waiting" if task.keyed else "admitted"

    def run_now(self, task: Task) -> bool:
        if task.place != "waiting":
            return False
        task.due = self.now
        return True

    # --- shared

    def _ticket(self) -> int:
        self._tickets += 1
        return self._tickets

    def _close(self, task: Task, outcome: str) -> None:
        assert task.lease_id is not None
        assert task.worker_id is not None
        del self.leases[task.lease_id]
        self.closed_leases.append((task.worker_id, task.lease_id))
        task.lease_id = task.worker_id = task.deadline = None
        task.outcomes[outcome] += 1

    def _stop_asked(self, task: Task) -> bool:
        if self.cancels.pop(task.task_id, None) is None:
            return False
        self._end(task, "cancelled")
        return True

    def _return(self, task: Task, due: float) -> None:
        task.returned = True
        task.due = due
        task.ticket = self._ticket()
        task.place = "waiting" if task.keyed or due > self.now else "admitted"

    def _bury(self, task: Task, reason: str) -> None:
        self._leave(task)
        task.place = "dead"
        task.reason = reason
        task.died = self.now

    def _end(self, task: Task, outcome: str | None) -> None:
        self._leave(task)
        task.place = "ended"
        if outcome is not None:
            task.outcomes[outcome] += 1

    def _leave(self, task: Task) -> None:
        """Give up the unique key, or the place behind it."""
        key = task.unique_key
        if key is None:
            return
        if self.holder.get(key) == task.task_id:
            del self.holder[key]
            self.freed[task.queue].append(key)
        elif self.parked.get(key) == task.task_id:
            del self.parked[key]
