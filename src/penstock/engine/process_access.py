"""Supervised processes as an operator sees them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from penstock.db.addresses import Addresses
from penstock.db.reach import reach
from penstock.processes.operation_rows import ProcessRow, ProcessState, ShownProcess
from penstock.processes.operations import ProcessOperations


class ProcessAccess:
    """Needs the operator's login; each call uses its own connection."""

    def __init__(self, addresses: Callable[[], Awaitable[Addresses]]) -> None:
        self._addresses = addresses

    async def list(
        self,
        process: str | None = None,
        *,
        tenant: str | None = None,
        state: ProcessState | None = None,
        limit: int = 50,
    ) -> list[ProcessRow]:
        """Processes, newest first; those of all tenants unless one is named."""
        async with reach((await self._addresses()).operator, application_name="penstock app") as connection:
            return await ProcessOperations(connection).list(process, tenant, state, limit)

    async def show(self, process: str, root_id: int) -> ShownProcess:
        """One process with its timeline."""
        async with reach((await self._addresses()).operator, application_name="penstock app") as connection:
            return await ProcessOperations(connection).show(process, root_id)

    async def restart(self, process: str, root_id: int) -> str:
        """Restart a failed process; returns its full id."""
        async with reach((await self._addresses()).operator, application_name="penstock app") as connection:
            return await ProcessOperations(connection).restart(process, root_id)
