"""Looks after what text search reads and what nobody asks for any more, whichever index holds the vectors."""

from __future__ import annotations

from penstock.db.tenancy import TenantPool

UNUSED_DAYS = 90
"""How long a cached embedding stays without being asked for."""


async def tend_counts(tenants: TenantPool) -> None:
    async with tenants.everyone() as connection:
        await connection.execute("select keeping.refresh_statistics()")
        await connection.execute("select keeping.forget_embeddings($1)", UNUSED_DAYS)
