"""Records an attempt's outcome through its handler and closes the lease, in one transaction."""

from __future__ import annotations

import asyncio
from typing import Final

from penstock.db.connect import CONNECTION_LOST
from penstock.db.tenancy import TenantPool
from penstock.errors import LeaseLost, PenstockError, TenantClosed
from penstock.observe import get_logger
from penstock.processes.channel_task import ChannelTask
from penstock.processes.handlers import run_and_complete, run_handler
from penstock.processes.outcome import AttemptFailed, AttemptSucceeded, Outcome
from penstock.processes.storable import error_text
from penstock.queue.task_run import TaskRun

log = get_logger(__name__)

FAIL_TASK: Final = "select queues.fail_task($1, $2)"

PAUSES: Final = (0.1, 0.4)
"""Seconds between calls of a failing handler: three calls in total."""
LINE_PAUSES: Final = (0.1, 0.4, 1.0, 2.0, 4.0, 4.0, 4.0)
"""The same while the database is down: a restart must not cause a second call of the provider."""


class HandlerFailed(PenstockError):
    """The outcome of an attempt could not be recorded.

    Not retriable: the queue must not run the task again, which would call the provider again because a
    handler is broken. The task becomes a dead letter, and its error handler runs once more. After a success
    the error code tells `queues.bury`, and no other attempt is made.
    """

    retriable = False

    def __init__(self, handler: str, reason: str, *, succeeded: bool) -> None:
        done = "The attempt succeeded, but that" if succeeded else "That the attempt failed"
        super().__init__(
            f"{done} could not be written by {handler}: {reason}",
            f"Fix {handler}; penstock process list shows what waits for it",
        )
        self.handler = handler
        self.reason = reason
        self.error_code = "SuccessNotRecorded" if succeeded else "FailureNotRecorded"


async def record_outcome(tenants: TenantPool, task: ChannelTask, outcome: Outcome, run: TaskRun) -> None:
    """Call the success or error handler and complete the task; HandlerFailed if that fails.

    A failed try rolls back completely, so nothing is recorded twice.
    """
    handler = task.named("success_handler" if isinstance(outcome, AttemptSucceeded) else "error_handler")
    if isinstance(outcome, AttemptFailed):
        log.info(
            "channel_task_failed",
            task_id=run.task_id,
            task_type=str(task.payload.get("task_type", "")),
            error_class=outcome.kind,
            retriable=outcome.retriable,
        )
    failures = 0
    while True:
        try:
            return await _write(tenants, handler, task, outcome, run)
        except (LeaseLost, TenantClosed):
            raise  # another worker has the task, or nothing may be written any more
        except Exception as error:
            pauses = LINE_PAUSES if isinstance(error, CONNECTION_LOST) else PAUSES
            last = failures >= len(pauses)
            log.warning(
                "handler_call_failed",
                task_id=run.task_id,
                handler=handler,
                error_class=type(error).__name__,
                will_retry=not last,
            )
            if last:
                reached = isinstance(outcome, AttemptSucceeded)
                raise HandlerFailed(handler, error_text(error), succeeded=reached) from error
        await asyncio.sleep(pauses[failures])
        failures += 1


async def _write(
    tenants: TenantPool, handler: str, task: ChannelTask, outcome: Outcome, run: TaskRun
) -> None:
    told = outcome.told(task.payload)
    if isinstance(outcome, AttemptSucceeded):
        await run_and_complete(tenants, run, handler, told, must_succeed=True)
        return
    async with run.transaction() as conn:
        await conn.execute(FAIL_TASK, run.task_id, outcome.error)
        await run_handler(conn, handler, told)
