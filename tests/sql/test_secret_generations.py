"""Generations of a source's secret: stored once, found after a crash, swept only when nothing needs them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import UUID

import pytest

from penstock.db.tenancy import TenantPool
from penstock.errors import Conflict, NotFound
from penstock.model import SourceId, TenantId
from penstock.vault import ACCESS_TOKEN, REFRESH_TOKEN, Secrets, Vault, generate_key, read_keys
from tests.plugins.database import Database
from tests.sql.document_calls import DocumentCalls, Tenant, call, document_calls


@dataclass(frozen=True, slots=True)
class Shelf:
    """One tenant's source, and the secrets as the engine has them."""

    calls: DocumentCalls
    pool: TenantPool
    secrets: Secrets
    tenant: Tenant
    source_id: SourceId

    @property
    def tenant_id(self) -> TenantId:
        return TenantId(self.tenant.tenant_id)

    async def store(self, generation: int, purpose: str = REFRESH_TOKEN) -> UUID:
        plaintext = f"{purpose} {generation}".encode()
        return await self.secrets.store_generation(
            self.pool, self.tenant_id, self.source_id, purpose, generation, plaintext
        )

    async def point_at(self, secret_id: UUID) -> None:
        await self.calls.admin.execute(
            "update ingest.source set refresh_token_vault_id = $2 where source_id = $1",
            self.source_id,
            secret_id,
        )

    async def orphan(self, secret_id: UUID) -> bool:
        async with self.pool.transaction(self.tenant_id) as conn:
            return await self.secrets.orphan(conn, secret_id)

    async def sweep(self, days: int = 7) -> int:
        ((count,),) = await call(self.calls.runtime, "all_tenants.sweep_orphans", days)
        return int(count)

    async def left(self) -> set[int]:
        rows = await self.calls.admin.fetch(
            "select generation from vault.secret where source_id = $1", self.source_id
        )
        return {row["generation"] for row in rows}


@asynccontextmanager
async def source_of_a_tenant(database: Database) -> AsyncIterator[Shelf]:
    pool = await TenantPool.open(database.runtime_url, application_name="test", size=2)
    try:
        async with document_calls(database) as calls:
            tenant = await calls.create_tenant("acme")
            secrets = Secrets(Vault(read_keys(generate_key(), "the test")))
            yield Shelf(calls, pool, secrets, tenant, SourceId(await calls.webhook(tenant)))
    finally:
        await pool.close()


async def test_a_stored_generation_is_read_by_its_id_and_stored_once(database: Database) -> None:
    async with source_of_a_tenant(database) as shelf:
        first = await shelf.store(1)
        with pytest.raises(Conflict, match="already has generation 1 of its refresh_token"):
            await shelf.store(1)
        await shelf.store(1, ACCESS_TOKEN)
        async with shelf.pool.transaction(shelf.tenant_id) as conn:
            assert await shelf.secrets.get(conn, shelf.tenant_id, first) == b"refresh_token 1"


async def test_a_generation_stored_before_a_crash_is_found(database: Database) -> None:
    async with source_of_a_tenant(database) as shelf:
        async with shelf.pool.transaction(shelf.tenant_id) as conn:
            assert await shelf.secrets.newest(conn, shelf.source_id, REFRESH_TOKEN) is None
        await shelf.point_at(await shelf.store(1))
        second = await shelf.store(2)  # and the process dies before the source points at it
        async with shelf.pool.transaction(shelf.tenant_id) as conn:
            newest = await shelf.secrets.newest(conn, shelf.source_id, REFRESH_TOKEN)
        assert newest is not None
        assert (newest.secret_id, newest.generation, newest.orphaned_at) == (second, 2, None)


async def test_another_tenants_source_takes_and_shows_no_secret(database: Database) -> None:
    async with source_of_a_tenant(database) as shelf:
        secret_id = await shelf.store(1)
        other = TenantId((await shelf.calls.create_tenant("other")).tenant_id)
        with pytest.raises(NotFound, match=str(shelf.source_id)):
            await shelf.secrets.store_generation(
                shelf.pool, other, shelf.source_id, REFRESH_TOKEN, 2, b"theirs"
            )
        async with shelf.pool.transaction(other) as conn:
            assert await shelf.secrets.newest(conn, shelf.source_id, REFRESH_TOKEN) is None
            assert not await shelf.secrets.orphan(conn, secret_id)
        assert await shelf.left() == {1}


async def test_orphans_are_swept_after_their_days_and_what_a_source_uses_stays(database: Database) -> None:
    async with source_of_a_tenant(database) as shelf:
        first, second = await shelf.store(1), await shelf.store(2)
        await shelf.point_at(second)
        assert await shelf.orphan(first)
        assert not await shelf.orphan(first)
        assert await shelf.orphan(second)  # by mistake: the source points at it
        await shelf.calls.clock.advance(days=7)
        assert await shelf.sweep() == 0
        await shelf.calls.clock.advance(seconds=1)
        assert (await shelf.sweep(), await shelf.left()) == (1, {2})


async def test_what_a_dead_process_left_behind_is_orphaned_after_a_day_and_then_swept(
    database: Database,
) -> None:
    async with source_of_a_tenant(database) as shelf:
        await shelf.store(1)  # never pointed at, never noted
        await shelf.point_at(await shelf.store(2))
        await shelf.calls.clock.advance(days=1, seconds=1)
        assert await shelf.sweep() == 0
        await shelf.calls.clock.advance(days=7)
        assert await shelf.sweep() == 0
        await shelf.calls.clock.advance(seconds=1)
        assert (await shelf.sweep(), await shelf.left()) == (1, {2})
        # The webhook's own secret belongs to no generation and is never touched.
        assert (
            await shelf.calls.admin.fetchval("select count(*) from vault.secret where source_id is null") == 1
        )


async def test_access_tokens_that_were_replaced_are_kept_for_a_day(database: Database) -> None:
    async with source_of_a_tenant(database) as shelf:
        assert await shelf.orphan(await shelf.store(1, ACCESS_TOKEN))
        assert await shelf.orphan(await shelf.store(2))
        await shelf.calls.clock.advance(days=1)
        assert await shelf.sweep() == 0
        await shelf.calls.clock.advance(seconds=1)
        assert (await shelf.sweep(), await shelf.left()) == (1, {2})


async def test_a_removed_source_names_the_secrets_of_every_generation(database: Database) -> None:
    async with source_of_a_tenant(database) as shelf:
        stored = {await shelf.store(1), await shelf.store(2), await shelf.store(1, ACCESS_TOKEN)}
        named = set(await shelf.calls.of(shelf.tenant, "ingest.remove_source", shelf.source_id))
        assert stored < named
        assert len(named) == 4  # with the webhook's own
        with pytest.raises(NotFound):
            await shelf.store(3)
