"""The task handler of external channels: before handler, provider, success or error handler."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.db.tenancy import TenantPool
from penstock.errors import LeaseLost
from penstock.processes.channel_task import ChannelTask
from penstock.processes.channels.channel import Channel
from penstock.processes.envelope import MalformedEnvelope
from penstock.processes.handlers import run_for_tenant
from penstock.processes.outcome import AttemptFailed, AttemptSucceeded, Outcome
from penstock.processes.outcome_recording import record_outcome
from penstock.queue.task_run import TaskRun


class ChannelHandler:
    """One attempt of a supervised process. A failed attempt completes its task too: the supervisor retries.

    A crash between the provider and the handler runs the task again, so the provider may be called twice;
    facts are written once, in the transaction that closes the lease.
    """

    def __init__(self, tenants: TenantPool, channel: Channel) -> None:
        self._tenants = tenants
        self._channel = channel

    async def __call__(self, payload: dict[str, Any], run: TaskRun) -> None:
        task = ChannelTask.read(payload, run)
        for key in ("success_handler", "error_handler"):
            task.named(key)  # check before sending: without them the outcome could not be recorded
        await record_outcome(self._tenants, task, await self._attempt(task, run), run)

    async def _attempt(self, task: ChannelTask, run: TaskRun) -> Outcome:
        before = task.named_if_any("before_handler")
        request = task.payload
        if before is not None:
            # If it raises, or the database is down, the queue retries the task.
            try:
                envelope = await run_for_tenant(self._tenants, task, before)
            except MalformedEnvelope as malformed:
                return AttemptFailed.by_error(malformed)
            if not envelope.succeeded:
                return AttemptFailed.by_answer(before, envelope)
            request = envelope.payload
        try:
            answer: object = await self._channel.call(request, run)
            # A user's own channel may return None; it still succeeded.
            return AttemptSucceeded(answer if isinstance(answer, Mapping) else {})
        except LeaseLost:
            raise
        except Exception as error:  # noqa: BLE001  # whatever it is, it is how the attempt ended
            return AttemptFailed.by_error(error)
