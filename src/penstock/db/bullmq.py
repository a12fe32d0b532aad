"""Prepares BullMQ's schema in our database for an inlet: privileges for workers and operators."""

from __future__ import annotations

import asyncpg

from penstock.db.connect import translated
from penstock.db.types import Connection
from penstock.errors import InvalidArgument
from penstock.sql import on_request


async def prepare_schema(admin: Connection, schema: str) -> None:
    """Let workers move its jobs; InvalidArgument if this login may not grant that."""
    try:
        with translated():
            async with admin.transaction():
                await admin.execute("select set_config('penstock.bullmq_schema', $1, true)", schema)
                await admin.execute(on_request("bullmq/grants"))
    except asyncpg.InsufficientPrivilegeError as error:
        raise InvalidArgument(
            f"the admin login may not grant privileges on BullMQ's schema: {error}",
            "schema",
            "Set PENSTOCK_ADMIN_URL to a login that owns the schema and its tables",
        ) from error
