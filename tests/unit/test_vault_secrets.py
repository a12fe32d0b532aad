"""Secrets of tenants come back to their tenant alone, and the database never has one in the clear."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID

import pytest

from penstock.db import Connection
from penstock.db.tenancy import TenantPool
from penstock.errors import NoTenant, NotFound
from penstock.model.ids import TenantId, uuid7
from penstock.vault import Secrets, SecretUnreadable, Vault, generate_key, read_keys
from tests.plugins.database import Database

CANARY = b"canary-91bc"


@asynccontextmanager
async def tenants(database: Database) -> AsyncIterator[tuple[TenantPool, TenantId, TenantId]]:
    """A pool of the runtime login, and two tenants."""
    found = [TenantId(uuid7()) for _ in range(2)]
    async with database.connect("operator") as operator:
        for number, tenant in enumerate(found):
            await operator.fetchval(
                "select all_tenants.create_tenant($1, $2, $3, $3, 'wordllama')",
                tenant,
                uuid7(),
                f"tenant-{number}",
            )
    pool = await TenantPool.open(database.runtime_url, application_name="test", size=2)
    try:
        yield pool, found[0], found[1]
    finally:
        await pool.close()


def secrets() -> Secrets:
    return Secrets(Vault(read_keys(generate_key(), "the test")))


async def test_a_secret_comes_back_to_its_tenant(database: Database) -> None:
    kept = secrets()
    async with tenants(database) as (pool, mine, _):
        async with pool.transaction(mine) as connection:
            secret_id = await kept.put(connection, mine, "hubspot.token", CANARY)
        async with pool.transaction(mine) as connection:
            assert await kept.get(connection, mine, secret_id) == CANARY
            assert await kept.drop(connection, secret_id)
            assert not await kept.drop(connection, secret_id)
            with pytest.raises(NotFound, match=str(secret_id)):
                await kept.get(connection, mine, secret_id)


async def test_another_tenant_neither_gets_nor_drops_it(database: Database) -> None:
    kept = secrets()
    async with tenants(database) as (pool, mine, theirs):
        async with pool.transaction(mine) as connection:
            secret_id = await kept.put(connection, mine, "hubspot.token", CANARY)
        async with pool.transaction(theirs) as connection:
            assert not await kept.drop(connection, secret_id)
            with pytest.raises(NotFound):
                await kept.get(connection, theirs, secret_id)
        async with pool.all_tenants() as connection:
            with pytest.raises(NoTenant):
                await kept.get(connection, mine, secret_id)


@pytest.mark.parametrize(
    "move",
    [
        "update vault.secret set tenant_id = $2 where secret_id = $1",
        "update vault.secret set name = 'other', tenant_id = $2 where secret_id = $1",
    ],
)
async def test_a_row_that_was_moved_to_another_tenant_does_not_open(database: Database, move: str) -> None:
    kept = secrets()
    async with tenants(database) as (pool, mine, theirs):
        async with pool.transaction(mine) as connection:
            secret_id = await kept.put(connection, mine, "hubspot.token", CANARY)
        async with database.connect("admin") as admin:
            await admin.execute(move, secret_id, theirs)
        async with pool.transaction(theirs) as connection:
            with pytest.raises(SecretUnreadable):
                await kept.get(connection, theirs, secret_id)


async def test_the_row_holds_no_trace_of_the_secret(database: Database) -> None:
    kept = secrets()
    async with tenants(database) as (pool, mine, _):
        async with pool.transaction(mine) as connection:
            secret_id = await kept.put(connection, mine, "hubspot.token", CANARY)
        async with database.connect("admin") as admin:
            assert CANARY.hex() not in await row_as_text(admin, secret_id)


async def row_as_text(admin: Connection, secret_id: UUID) -> str:
    text: str = await admin.fetchval("select s::text from vault.secret s where s.secret_id = $1", secret_id)
    return text
