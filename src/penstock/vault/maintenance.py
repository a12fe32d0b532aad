"""Deletes secrets that nothing points at any more, and the parameters of deleted secrets, for all tenants."""

from __future__ import annotations

from penstock.db.tenancy import TenantPool
from penstock.observe import get_logger
from penstock.vault.parameters import BATCH, ParameterStore

log = get_logger(__name__)


class VaultMaintenance:
    """Runs with the other maintenance, every minute; each step is short and safe to repeat."""

    def __init__(self, tenants: TenantPool, parameters: ParameterStore, *, orphaned_days: int) -> None:
        self._tenants = tenants
        self._parameters = parameters
        self._orphaned_days = orphaned_days

    async def run_once(self) -> None:
        async with self._tenants.all_tenants() as conn:
            swept = await conn.fetchval("select all_tenants.sweep_orphans($1)", self._orphaned_days)
        if swept:
            log.info("secrets_swept", count=swept)
        await self._delete_parameters()

    async def _delete_parameters(self) -> None:
        """Those that fail are due again later: a parameter that was forgotten would never be deleted."""
        deleted, failed, code = 0, 0, None
        while True:
            async with self._tenants.all_tenants() as conn:
                due = await conn.fetch("select * from all_tenants.due_parameters($1)", BATCH)
            if not due:
                break
            error = await self._parameters.delete([row["parameter_name"] for row in due])
            async with self._tenants.all_tenants() as conn:
                await conn.execute(
                    "select all_tenants.note_parameters($1, $2)",
                    [row["secret_id"] for row in due],
                    [error] * len(due),
                )
            if error is None:
                deleted += len(due)
            else:
                failed, code = failed + len(due), error
        if deleted:
            log.info("parameters_deleted", count=deleted)
        if failed:
            log.warning("parameters_not_deleted", count=failed, code=code)
