"""The operator's SQL functions for supervised processes in Python: list, show, restart."""

from __future__ import annotations

from typing import cast

from penstock.db import Connection
from penstock.db.connect import translated
from penstock.model.rows import row_from_json
from penstock.processes.operation_rows import ProcessRow, ProcessState, ShownProcess, UnhealthyProcess


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
