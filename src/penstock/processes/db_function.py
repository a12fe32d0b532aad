"""The task handler of db_function: a supervisor, or an attempt of a process that is pure SQL."""

from __future__ import annotations

from typing import Any

from penstock.db import Connection
from penstock.db.connect import CONNECTION_LOST
from penstock.db.tenancy import TenantPool
from penstock.errors import LeaseLost
from penstock.observe import get_logger
from penstock.processes.channel_task import ChannelTask
from penstock.processes.envelope import Envelope
from penstock.processes.handlers import run_and_complete, run_function, run_handler
from penstock.processes.outcome import AttemptFailed, AttemptSucceeded
from penstock.processes.outcome_recording import record_outcome
from penstock.queue.task_run import TaskRun

log = get_logger(__name__)


class DbFunction:
    """What the function writes and the close of the lease are one transaction.

    Without an error handler, a status other than success is only logged (supervisors use it) and an error
    fails the task. With one, either is a failed attempt: its writes are rolled back and the handler runs.
    """

    def __init__(self, tenants: TenantPool) -> None:
        self._tenants = tenants

    async def __call__(self, payload: dict[str, Any], run: TaskRun) -> None:
        task = ChannelTask.read(payload, run)
        function = task.named("db_function")
        handlers = [task.named_if_any(key) for key in ("success_handler", "error_handler")]
        envelope: Envelope | None
        if any(handlers):
            envelope = await self._attempt(function, task, run)
        else:
            envelope = await run_and_complete(self._tenants, run, function, task.payload, must_succeed=False)
        if envelope is not None and not envelope.succeeded:
            log.info("db_function_status", task_id=run.task_id, function=function, status=envelope.status)

    async def _attempt(self, function: str, task: ChannelTask, run: TaskRun) -> Envelope | None:
        """Run the function and its success handler in one transaction; on failure, the error handler."""
        success_handler = task.named_if_any("success_handler")
        is_attempt = task.named_if_any("error_handler") is not None
        try:
            async with run.transaction() as conn:
                envelope = await _run(conn, function, task, is_attempt=is_attempt)
                if envelope.succeeded and success_handler is not None:
                    # If it fails, the function is rolled back as well: the queue may run it again.
                    await run_handler(
                        conn, success_handler, AttemptSucceeded(envelope.payload).told(task.payload)
                    )
        except _AttemptFailed as attempt:
            await record_outcome(self._tenants, task, attempt.outcome, run)
            return None
        return envelope


class _AttemptFailed(Exception):
    """Carries the outcome out of the transaction it rolls back."""

    def __init__(self, outcome: AttemptFailed) -> None:
        super().__init__(outcome.kind)
        self.outcome = outcome


async def _run(conn: Connection, function: str, task: ChannelTask, *, is_attempt: bool) -> Envelope:
    if not is_attempt:
        return await run_function(conn, function, task.payload)
    try:
        envelope = await run_function(conn, function, task.payload)
    except Exception as error:
        if isinstance(error, (LeaseLost, *CONNECTION_LOST)):
            raise  # no answer from the function: the queue retries the task
        raise _AttemptFailed(AttemptFailed.by_error(error)) from error
    if not envelope.succeeded:
        raise _AttemptFailed(AttemptFailed.by_answer(function, envelope))
    return envelope
