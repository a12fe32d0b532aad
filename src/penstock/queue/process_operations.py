"""The typed face of the operator's SQL functions for supervised processes: list, show, start again."""

from __future__ import annotations

from typing import cast

from pydantic import TypeAdapter

from penstock.db import Connection
from penstock.db.connect import translated
from penstock.queue.process_rows import AilingProcess, ProcessRow, ProcessState, ShownProcess

_SHOWN = TypeAdapter(ShownProcess)


class ProcessOperations:
    """One connection of an operator; every call is one statement, committed by itself.

    A process may be named without its schema while no other is called so.
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
        call = "select * from keeping.list_roots($1, $2, $3, $4)"
        with translated():
            rows = await self._connection.fetch(call, process, tenant, state, limit)
        return [ProcessRow(*row) for row in rows]

    async def show(self, process: str, root_id: int) -> ShownProcess:
        call = "select keeping.show_root($1, $2)"
        with translated():
            answer: str = await self._connection.fetchval(call, process, root_id)
        return _SHOWN.validate_json(answer)

    async def restart(self, process: str, root_id: int) -> str:
        """Start one again that failed; its whole id comes back."""
        call = "select keeping.restart_root($1, $2)"
        with translated():
            return cast("str", await self._connection.fetchval(call, process, root_id))

    async def ailing(self) -> tuple[AilingProcess, ...]:
        rows = await self._connection.fetch("select * from keeping.ailing_roots()")
        return tuple(AilingProcess(*row) for row in rows)
