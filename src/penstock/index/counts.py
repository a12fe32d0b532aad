"""Maintains word counts and the embedding cache, whichever index holds the vectors."""

from __future__ import annotations

from penstock.db.tenancy import TenantPool

UNUSED_DAYS = 90
"""How long an unused embedding stays in the cache."""


async def maintain_counts(tenants: TenantPool) -> None:
    async with tenants.all_tenants() as connection:
        await connection.execute("select all_tenants.refresh_statistics()")
        await connection.execute("select all_tenants.forget_embeddings($1)", UNUSED_DAYS)
