"""Calls a business function by its name, in the caller's transaction, and reads its envelope."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from penstock.channels.envelope import Envelope, MalformedEnvelope, read_envelope
from penstock.channels.storable import storable
from penstock.db import Connection
from penstock.db.connect import translated
from penstock.errors import PayloadInvalid, PenstockError

RUN_FUNCTION = "select internal.run_function($1, $2::jsonb)"


class NotSucceeded(PenstockError):
    """A handler was called and answered that it did not do its work."""

    def __init__(self, handler: str, reason: str) -> None:
        super().__init__(f"The handler {handler} did not succeed: {reason}", f"Mend {handler}")
        self.handler = handler
        self.reason = reason
        self.args = (handler, reason)


async def run_function(conn: Connection, name: str, payload: Mapping[str, Any]) -> Envelope:
    """What the function answers; raises FunctionRefused, MalformedEnvelope, or what the database raises."""
    with translated():
        answer: str | None = await conn.fetchval(RUN_FUNCTION, name, as_json(payload))
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
