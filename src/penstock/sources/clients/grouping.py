"""Groups the client rows that changed, so that each group is one client."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from penstock.db.tenancy import TenantPool
    from penstock.model import TenantId

BATCH: Final = 2_000
"""Rows with the same keys are grouped at once, and a group is described once a batch."""
GROUP: Final = "select ingest.group_clients($1)"


async def group_clients(tenants: TenantPool, tenant_id: TenantId) -> None:
    """In transactions of moderate length; one that finds nothing to do is a single read."""
    count = BATCH
    while count >= BATCH:
        async with tenants.transaction(tenant_id, durable=False) as conn:
            count = await conn.fetchval(GROUP, BATCH)
