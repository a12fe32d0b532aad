"""Prepares a pgmq queue: privileges for the queue's owner, and the wrappers if wanted."""

from __future__ import annotations

import asyncpg

from penstock.db.connect import translated
from penstock.db.types import Connection
from penstock.errors import InvalidArgument
from penstock.sql import on_request


async def prepare_queue(admin: Connection, queue: str, *, wrappers: bool) -> None:
    """Let Penstock's functions use the queue; InvalidArgument if this login may not grant that."""
    try:
        with translated():
            async with admin.transaction():
                await admin.execute("select set_config('penstock.pgmq_queue', $1, true)", queue)
                await admin.execute(on_request("pgmq/grants"))
                if wrappers:
                    await admin.execute(on_request("pgmq/wrappers"))
    except asyncpg.InsufficientPrivilegeError as error:
        raise InvalidArgument(
            f"the admin login may not grant privileges on pgmq: {error}",
            "queue",
            "Set PENSTOCK_ADMIN_URL to a login that owns pgmq's schema and tables",
        ) from error
