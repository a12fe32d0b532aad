"""Writes how an attempt ended, by its handler, and closes the lease in the same transaction."""

from __future__ import annotations

import asyncio
from typing import Final

from penstock.channels.handlers import run_and_complete, run_handler
from penstock.channels.order import Order
from penstock.channels.outcome import Failed, Outcome, Succeeded
from penstock.channels.ports import Run
from penstock.channels.storable import error_text
from penstock.db.connect import CONNECTION_LOST
from penstock.db.tenancy import TenantPool
from penstock.errors import LeaseLost, PenstockError, TenantClosed
from penstock.observe import get_logger

log = get_logger(__name__)

FAIL_TASK: Final = "select queues.fail_task($1, $2)"

PAUSES: Final = (0.1, 0.4)
"""Seconds between the calls of a handler that fails: three in all."""
LINE_PAUSES: Final = (0.1, 0.4, 1.0, 2.0, 4.0, 4.0, 4.0)
"""The same while the database is away: a restart must not make the provider be called twice."""


class HandlerFailed(PenstockError):
    """The facts of an attempt could not be written.

    Not retriable: the queue must not run the task again, which would call the provider again because a
    handler is broken. The task becomes a dead letter, and as such has its error handler run once more. After
    a success its code says so to `queues.bury`, and no other attempt is made either.
    """

    retriable = False

    def __init__(self, handler: str, reason: str, *, succeeded: bool) -> None:
        done = "The provider did it, but that" if succeeded else "That the attempt failed"
        super().__init__(
            f"{done} could not be written by {handler}: {reason}",
            f"Mend {handler}; penstock process shows what waits for it",
        )
        self.handler = handler
        self.reason = reason
        self.error_code = "SuccessNotRecorded" if succeeded else "FailureNotRecorded"


async def settle(tenants: TenantPool, order: Order, outcome: Outcome, run: Run) -> None:
    """Have the success or error handler write its facts and complete the task; HandlerFailed if it cannot.

    Each try rolls back whole, so no fact is written twice.
    """
    handler = order.named("success_handler" if isinstance(outcome, Succeeded) else "error_handler")
    if isinstance(outcome, Failed):
        log.info(
            "channel_task_failed",
            task_id=run.task_id,
            task_type=str(order.payload.get("task_type", "")),
            error_class=outcome.kind,
            retriable=outcome.retriable,
        )
    failures = 0
    while True:
        try:
            return await _write(tenants, handler, order, outcome, run)
        except (LeaseLost, TenantClosed):
            raise  # somebody else has the task and writes its facts, or nobody shall any more
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
                reached = isinstance(outcome, Succeeded)
                raise HandlerFailed(handler, error_text(error), succeeded=reached) from error
        await asyncio.sleep(pauses[failures])
        failures += 1


async def _write(tenants: TenantPool, handler: str, order: Order, outcome: Outcome, run: Run) -> None:
    told = outcome.told(order.payload)
    if isinstance(outcome, Succeeded):
        await run_and_complete(tenants, run, handler, told, must_succeed=True)
        return
    async with run.transaction() as conn:
        await conn.execute(FAIL_TASK, run.task_id, outcome.error)
        await run_handler(conn, handler, told)
