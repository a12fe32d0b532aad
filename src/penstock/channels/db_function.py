"""The task handler of db_function: a supervisor, or an attempt of a process that is pure SQL."""

from __future__ import annotations

from typing import Any

from penstock.channels.envelope import Envelope
from penstock.channels.handlers import run_and_complete, run_function, run_handler
from penstock.channels.order import Order
from penstock.channels.outcome import Failed, Succeeded
from penstock.channels.ports import Run
from penstock.channels.settling import settle
from penstock.db import Connection
from penstock.db.connect import CONNECTION_LOST
from penstock.db.tenancy import TenantPool
from penstock.errors import LeaseLost
from penstock.observe import get_logger

log = get_logger(__name__)


class DbFunction:
    """What the function writes and the close of the lease are one transaction.

    Without an error handler a status that is no success is only logged: supervisors speak by it; an error
    fails the task. With one, either is an attempt that failed: its writes are undone and the handler is told.
    """

    def __init__(self, tenants: TenantPool) -> None:
        self._tenants = tenants

    async def __call__(self, payload: dict[str, Any], run: Run) -> None:
        order = Order.read(payload, run)
        function = order.named("db_function")
        handlers = [order.named_if_any(key) for key in ("success_handler", "error_handler")]
        envelope: Envelope | None
        if any(handlers):
            envelope = await self._attempt(function, order, run)
        else:
            envelope = await run_and_complete(self._tenants, run, function, order.payload, must_succeed=False)
        if envelope is not None and not envelope.succeeded:
            log.info("db_function_status", task_id=run.task_id, function=function, status=envelope.status)

    async def _attempt(self, function: str, order: Order, run: Run) -> Envelope | None:
        """The function and its success handler in one transaction; else its error handler, no envelope."""
        success_handler = order.named_if_any("success_handler")
        is_attempt = order.named_if_any("error_handler") is not None
        try:
            async with run.transaction() as conn:
                envelope = await _run(conn, function, order, is_attempt=is_attempt)
                if envelope.succeeded and success_handler is not None:
                    # One that fails undoes the function as well: all is SQL, so the queue may run it again.
                    await run_handler(conn, success_handler, Succeeded(envelope.payload).told(order.payload))
        except _AttemptFailed as attempt:
            await settle(self._tenants, order, attempt.outcome, run)
            return None
        return envelope


class _AttemptFailed(Exception):
    """Takes the outcome out of the transaction it undoes."""

    def __init__(self, outcome: Failed) -> None:
        super().__init__(outcome.kind)
        self.outcome = outcome


async def _run(conn: Connection, function: str, order: Order, *, is_attempt: bool) -> Envelope:
    if not is_attempt:
        return await run_function(conn, function, order.payload)
    try:
        envelope = await run_function(conn, function, order.payload)
    except Exception as error:
        if isinstance(error, (LeaseLost, *CONNECTION_LOST)):
            raise  # the function said nothing: the queue runs the task again
        raise _AttemptFailed(Failed.by_error(error)) from error
    if not envelope.succeeded:
        raise _AttemptFailed(Failed.by_answer(function, envelope))
    return envelope
