"""What became of one run of a task."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal

from penstock.db import Connection
from penstock.errors import PenstockError
from penstock.model import Lease, TaskId

Outcome = Literal["completed", "failed", "dead", "snoozed", "cancelled", "lost", "released"]

_READ = """
select
  a.outcome::text as outcome, e.error_code, e.error_message,
  (select extract(epoch from w.due_at - internal.clock())::double precision
   from queues.waiting w where w.task_id = $2 limit 1) as wait,
  exists (select from queues.dead_letter d where d.task_id = $2) as is_dead
from queues.attempt a
left join queues.error e on e.attempt_id = a.attempt_id
where a.attempt_id = $1
"""


class TaskFailed(PenstockError):
    """A run failed without an exception of its handler: a payload that does not fit, or a time limit."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.args = (code, message)


@dataclass(frozen=True, slots=True)
class TaskResult:
    """One run. `failed` ones are tried again after `retry_in` seconds, `dead` ones are not."""

    task_id: TaskId
    task_type: str
    payload: dict[str, Any]
    attempt: int
    outcome: Outcome
    error: BaseException | None = None
    """What the handler raised."""
    retry_in: float | None = None
    """Seconds until a failed or snoozed task is due again."""

    def explained(self) -> BaseException:
        """The error with a note that says which task it is of."""
        assert self.error is not None
        again = "it is dead" if self.retry_in is None else f"it is due again in {self.retry_in:g} s"
        self.error.add_note(
            f"raised by task {self.task_id} of type {self.task_type!r} with payload {self.payload!r},"
            f" attempt {self.attempt}; {again}"
        )
        return self.error


async def read_result(admin: Connection, lease: Lease, raised: BaseException | None) -> TaskResult:
    """The result of a run that was just closed; without a row in the history its lease was lost."""
    row = await admin.fetchrow(_READ, lease.lease_id, lease.task_id)
    outcome: Outcome = "lost" if row is None else row["outcome"]
    error = raised
    if row is not None and outcome == "failed":
        outcome = "dead" if row["is_dead"] else "failed"
        error = raised or TaskFailed(row["error_code"], row["error_message"])
    return TaskResult(
        task_id=lease.task_id,
        task_type=lease.task_type,
        payload=json.loads(lease.payload),
        attempt=lease.attempt,
        outcome=outcome,
        error=error if outcome in ("failed", "dead", "lost") else None,
        retry_in=None if row is None else row["wait"],
    )
