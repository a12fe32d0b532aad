"""Calls a business function by name and parses its envelope."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from penstock.db import Connection
from penstock.db.connect import translated
from penstock.db.tenancy import TenantPool
from penstock.errors import PayloadInvalid, PenstockError
from penstock.processes.channel_task import ChannelTask
from penstock.processes.envelope import Envelope, MalformedEnvelope, read_envelope
from penstock.processes.storable import storable
from penstock.queue.task_run import TaskRun

RUN_FUNCTION = "select internal.run_function($1, $2::jsonb)"
RUN_FOR_TENANT = "select internal.run_for_tenant($1, $2, $3::jsonb)"
RUN_AND_COMPLETE = "select internal.run_and_complete($1, $2, $3, $4, $5, $6::jsonb, $7)"


class NotSucceeded(PenstockError):
    """A handler returned an envelope without success."""

    def __init__(self, handler: str, reason: str) -> None:
        super().__init__(f"The handler {handler} did not succeed: {reason}", f"Fix {handler}")
        self.handler = handler
        self.reason = reason
        self.args = (handler, reason)


async def run_function(conn: Connection, name: str, payload: Mapping[str, Any]) -> Envelope:
    """Call the function in the caller's transaction.

    Raises FunctionRefused, MalformedEnvelope, or what the database raises.
    """
    with translated():
        return _envelope(await conn.fetchval(RUN_FUNCTION, name, as_json(payload)))


async def run_for_tenant(tenants: TenantPool, task: ChannelTask, name: str) -> Envelope:
    """Call the function in a transaction of the tenant, in one round trip."""
    async with tenants.all_tenants() as conn:
        return _envelope(await conn.fetchval(RUN_FOR_TENANT, task.tenant_id, name, as_json(task.payload)))


async def run_and_complete(
    tenants: TenantPool, run: TaskRun, name: str, payload: Mapping[str, Any], *, must_succeed: bool
) -> Envelope | None:
    """Call the function in a transaction that also closes the lease, in one round trip.

    Raises AnswerRefused for an invalid envelope or, with `must_succeed`, for no success; then nothing is
    written. None if the connection broke after the commit.
    """
    answer = await run.complete_by(tenants, RUN_AND_COMPLETE, name, as_json(payload), must_succeed)
    return None if answer is None else _envelope(answer)


def _envelope(answer: str | None) -> Envelope:
    try:
        return read_envelope(None if answer is None else json.loads(answer))
    except RecursionError:
        raise MalformedEnvelope("the answer", "is nested too deeply to be read") from None


async def run_handler(conn: Connection, name: str, payload: Mapping[str, Any]) -> None:
    """Call a success or error handler; raises unless it succeeds, so that the caller rolls back."""
    envelope = await run_function(conn, name, payload)
    if not envelope.succeeded:
        raise NotSucceeded(name, envelope.reason)


def as_json(payload: Mapping[str, Any]) -> str:
    """The payload as text for jsonb."""
    try:
        return json.dumps(storable(payload), allow_nan=False, separators=(",", ":"))
    except (ValueError, RecursionError, TypeError) as unfit:
        raise PayloadInvalid(
            f"the payload is not valid JSON: {unfit}", "payload", "Send a JSON object."
        ) from None
