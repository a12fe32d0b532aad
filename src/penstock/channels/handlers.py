"""Calls a business function by its name and reads its envelope."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from penstock.channels.envelope import Envelope, MalformedEnvelope, read_envelope
from penstock.channels.order import Order
from penstock.channels.ports import Run
from penstock.channels.storable import storable
from penstock.db import Connection
from penstock.db.connect import translated
from penstock.db.tenancy import TenantPool
from penstock.errors import PayloadInvalid, PenstockError

RUN_FUNCTION = "select internal.run_function($1, $2::jsonb)"
RUN_FOR_TENANT = "select internal.run_for_tenant($1, $2, $3::jsonb)"
RUN_AND_COMPLETE = "select internal.run_and_complete($1, $2, $3, $4, $5, $6::jsonb, $7)"


class NotSucceeded(PenstockError):
    """A handler was called and answered that it did not do its work."""

    def __init__(self, handler: str, reason: str) -> None:
        super().__init__(f"The handler {handler} did not succeed: {reason}", f"Mend {handler}")
        self.handler = handler
        self.reason = reason
        self.args = (handler, reason)


async def run_function(conn: Connection, name: str, payload: Mapping[str, Any]) -> Envelope:
    """What the function answers in the caller's transaction.

    Raises FunctionRefused, MalformedEnvelope, or what the database raises.
    """
    with translated():
        return _envelope(await conn.fetchval(RUN_FUNCTION, name, as_json(payload)))


async def run_for_tenant(tenants: TenantPool, order: Order, name: str) -> Envelope:
    """The same in a transaction of the tenant's, in one round trip."""
    async with tenants.everyone() as conn:
        return _envelope(await conn.fetchval(RUN_FOR_TENANT, order.tenant_id, name, as_json(order.payload)))


async def run_and_complete(
    tenants: TenantPool, run: Run, name: str, payload: Mapping[str, Any], *, must_succeed: bool
) -> Envelope | None:
    """The same in a transaction that also closes the lease, in one round trip.

    Raises AnswerRefused for what is no envelope and, if it must succeed, for no success; then nothing is
    written. None when the line broke after the commit.
    """
    answer = await run.complete_by(tenants.pool, RUN_AND_COMPLETE, name, as_json(payload), must_succeed)
    return None if answer is None else _envelope(answer)


def _envelope(answer: str | None) -> Envelope:
    try:
        return read_envelope(None if answer is None else json.loads(answer))
    except RecursionError:
        raise MalformedEnvelope("the answer", "is nested too deeply to be read") from None


async def run_handler(conn: Connection, name: str, payload: Mapping[str, Any]) -> None:
    """Call a success or error handler; anything but a success raises, so that the caller rolls back."""
    envelope = await run_function(conn, name, payload)
    if not envelope.succeeded:
        raise NotSucceeded(name, envelope.reason)


def as_json(payload: Mapping[str, Any]) -> str:
    """The payload as jsonb takes it."""
    try:
        return json.dumps(storable(payload), allow_nan=False, separators=(",", ":"))
    except (ValueError, RecursionError, TypeError) as unfit:
        raise PayloadInvalid(f"the payload is no JSON: {unfit}", "payload", "Send a JSON object.") from None
