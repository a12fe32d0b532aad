"""The operator's SQL functions for supervised processes in Python: list, show, restart."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import cast

from penstock.db import Connection
from penstock.db.connect import translated
from penstock.errors import InvalidArgument
from penstock.model.rows import row_from_json
from penstock.processes.operation_rows import (
    ProcessOrder,
    ProcessRow,
    ProcessState,
    ShownProcess,
    UnhealthyProcess,
)


class ProcessOperations:
    """An operator's connection; every call is one statement in its own transaction.

    A process may be named without its schema if the name is unique.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def list(
        self,
        process: str | None = None,
        tenant: str | None = None,
        state: ProcessState | None = None,
        limit: int = 50,
    ) -> list[ProcessRow]:
        call = "select * from all_tenants.list_roots($1, $2, $3, $4)"
        with translated():
            rows = await self._connection.fetch(call, process, tenant, state, limit)
        return [ProcessRow(*row) for row in rows]

    async def page(
        self,
        process: str | None,
        state: ProcessState | None,
        cursor: str | None,
        limit: int,
        sort: ProcessOrder = "-created",
    ) -> tuple[Sequence[ProcessRow], str | None]:
        """One page, and the cursor of the next: the last root id of each process so far."""
        after = _cursor(cursor)
        call = "select * from all_tenants.list_roots($1, null, $2, $3, $4, $5)"
        with translated():
            rows = await self._connection.fetch(call, process, state, limit, json.dumps(after), sort)
        found = [ProcessRow(*row) for row in rows]
        furthest = min if sort == "-created" else max
        for row in found:
            after[row.process] = furthest(row.root_id, after.get(row.process, row.root_id))
        return found, json.dumps(after, separators=(",", ":")) if len(found) == limit else None

    async def show(self, process: str, root_id: int) -> ShownProcess:
        call = "select all_tenants.show_root($1, $2)"
        with translated():
            answer: str = await self._connection.fetchval(call, process, root_id)
        return row_from_json(ShownProcess, answer)

    async def restart(self, process: str, root_id: int) -> str:
        """Restart a failed one; returns its full id."""
        call = "select all_tenants.restart_root($1, $2)"
        with translated():
            return cast("str", await self._connection.fetchval(call, process, root_id))

    async def unhealthy(self) -> tuple[UnhealthyProcess, ...]:
        rows = await self._connection.fetch("select * from all_tenants.ailing_roots()")
        return tuple(UnhealthyProcess(*row) for row in rows)


def _cursor(cursor: str | None) -> dict[str, int]:
    try:
        after = {} if cursor is None else json.loads(cursor)
        if isinstance(after, dict) and all(isinstance(each, int) for each in after.values()):
            return after
    except (ValueError, RecursionError):
        pass
    raise InvalidArgument(
        "this is not the cursor of a page of processes",
        "cursor",
        "Use the cursor of the previous page, or none",
    )
