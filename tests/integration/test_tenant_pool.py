"""A transaction of a tenant begins with its settings, a call is one round trip, a burst shares sessions."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg
import pytest

from penstock.db.tenancy import TenantPool, time_limited
from penstock.errors import NotFound
from penstock.model import TenantId, uuid7
from tests.plugins.database import Database

TENANT = TenantId(uuid7())
SHOW = "current_setting('penstock.tenant_id', true) || ' ' || current_setting('synchronous_commit')"


@asynccontextmanager
async def opened(database: Database, size: int = 10) -> AsyncIterator[TenantPool]:
    tenants = await TenantPool.open(
        database.runtime_url, application_name="test", size=size, quotas={"max_documents": 7}
    )
    try:
        yield tenants
    finally:
        await tenants.close()


@asynccontextmanager
async def holding(tenants: TenantPool, count: int) -> AsyncIterator[None]:
    """This many transactions are open for the block."""
    inside, over = asyncio.Semaphore(0), asyncio.Event()

    async def hold() -> None:
        async with tenants.transaction(TENANT):
            inside.release()
            await over.wait()

    held = [asyncio.create_task(hold()) for _ in range(count)]
    for _ in held:
        await asyncio.wait_for(inside.acquire(), 30)
    try:
        yield
    finally:
        over.set()
        await asyncio.gather(*held)


async def _begin(tenants: TenantPool, seconds: float = 0) -> None:
    async with tenants.transaction(TENANT):
        await asyncio.sleep(seconds)


async def test_a_transaction_begins_with_its_settings_and_leaves_none_behind(database: Database) -> None:
    async with opened(database, size=1) as tenants:
        async with tenants.transaction(TENANT, durable=False) as conn:
            assert await conn.fetchval(f"select {SHOW}") == f"{TENANT} off"
            assert await conn.fetchval("select current_setting('penstock.max_documents')") == "7"
        async with tenants.all_tenants() as conn:
            assert await conn.fetchval(f"select {SHOW}") == " on"


async def test_a_savepoint_inside_a_transaction_rolls_back_alone(database: Database) -> None:
    async with opened(database, size=1) as tenants, tenants.transaction(TENANT) as conn:
        await conn.execute("create temporary table kept (n integer) on commit drop")
        savepoint = conn.transaction()
        await savepoint.start()
        await conn.execute("insert into kept values (1)")
        await savepoint.rollback()
        await conn.execute("insert into kept values (2)")
        assert await conn.fetchval("select array_agg(n) from kept") == [2]


async def test_a_connection_whose_transaction_failed_at_its_begin_serves_the_next_one(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(database, size=1) as tenants:
        with monkeypatch.context() as patch:
            patch.setattr("penstock.db.tenancy._TENANT", "no_such_function({})")
            with pytest.raises(asyncpg.UndefinedFunctionError):
                await _begin(tenants)
        async with tenants.transaction(TENANT) as conn:
            assert await conn.fetchval(f"select {SHOW}") == f"{TENANT} on"


async def test_a_transaction_cancelled_at_its_begin_leaves_the_connection_usable(database: Database) -> None:
    async with opened(database, size=1) as tenants:
        for turns in range(12):
            beginning = asyncio.create_task(_begin(tenants, 60))
            for _ in range(turns):
                await asyncio.sleep(0)
            beginning.cancel()
            await asyncio.gather(beginning, return_exceptions=True)
            async with tenants.transaction(TENANT) as conn:
                assert await conn.fetchval(f"select {SHOW}") == f"{TENANT} on"


async def test_a_call_has_the_tenant_and_the_quotas_and_leaves_nothing_behind(database: Database) -> None:
    async with opened(database, size=1) as tenants:
        assert await tenants.call(TENANT, f"{SHOW} || $2::text", "!", durable=False) == f"{TENANT} off!"
        assert await tenants.call(TENANT, "current_setting('penstock.max_documents')") == "7"
        async with tenants.all_tenants() as conn:
            assert await conn.fetchval(f"select {SHOW}") == " on"


async def test_a_refused_call_raises_our_error(database: Database) -> None:
    async with opened(database) as tenants:
        with pytest.raises(NotFound):
            await tenants.call(TENANT, "ingest.delete_document($2)", uuid7())


async def test_a_call_within_a_time_limit_is_stopped_by_it(database: Database) -> None:
    async with opened(database) as tenants:
        with pytest.raises(asyncpg.QueryCanceledError), time_limited(0.2):
            await tenants.call(TENANT, "pg_sleep($2)", 60)


async def test_a_burst_of_short_transactions_shares_a_few_connections(database: Database) -> None:
    async with opened(database) as tenants:
        await asyncio.gather(*(tenants.call(TENANT, SHOW) for _ in range(50)))
        assert tenants.pool.get_size() <= 4


async def test_transactions_that_take_long_get_a_connection_each(database: Database) -> None:
    async with opened(database, size=8) as tenants:
        async with holding(tenants, 8):
            assert tenants.pool.get_size() == 8


async def test_whoever_waits_for_a_connection_and_gives_up_hands_the_turn_on(database: Database) -> None:
    async with opened(database, size=8) as tenants:
        async with holding(tenants, 4):
            waiting = [asyncio.create_task(tenants.call(TENANT, SHOW)) for _ in range(3)]
            await asyncio.sleep(0)
            waiting[0].cancel()
        assert (await asyncio.gather(*waiting, return_exceptions=True))[1:] == [f"{TENANT} on"] * 2
