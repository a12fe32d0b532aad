"""Word counts are refreshed when much moved, and large tenants get an HNSW index of their own."""

from __future__ import annotations

import asyncio

from penstock.db import Connection
from tests.plugins.database import Database
from tests.plugins.workers import eventually
from tests.sql.indexed_tenant import IndexedTenant, indexed_tenant

TEND = "select all_tenants.tend_vector_indexes($1)"


async def counted(tenant: IndexedTenant) -> dict[str, int]:
    rows = await tenant.admin.fetch(
        "select lexeme, df from ingest.lexeme_count where tenant_id = $1", tenant.tenant_id
    )
    return {row["lexeme"]: row["df"] for row in rows}


async def refresh(tenant: IndexedTenant) -> int:
    async with tenant.tenants.all_tenants() as connection:
        tenants: int = await connection.fetchval("select all_tenants.refresh_statistics()")
        return tenants


async def maintain(tenant: IndexedTenant, threshold: int) -> int:
    async with tenant.tenants.all_tenants() as connection:
        changed: int = await connection.fetchval(TEND, threshold)
        return changed


async def stop(tenant: IndexedTenant) -> None:
    await tenant.admin.execute("select queues.put_queue('spared')")
    await tenant.admin.execute("select queues.stop_tenant($1, 'spared')", tenant.tenant_id)


async def erase(tenant: IndexedTenant, connection: Connection) -> None:
    async with connection.transaction():
        await connection.execute("select set_config('penstock.tenant_id', $1, true)", str(tenant.tenant_id))
        await connection.execute("select internal.erase_tenant($1)", tenant.tenant_id)


async def until_waiting(tenant: IndexedTenant, connection: Connection) -> None:
    waiting = "select exists (select from pg_locks where locktype = 'advisory' and not granted and pid = $1)"
    pid = connection.get_server_pid()
    await eventually(lambda: tenant.admin.fetchval(waiting, pid), what="the erasure waits")


async def test_words_of_several_chunks_are_counted_and_those_of_one_are_not(database: Database) -> None:
    async with indexed_tenant(database) as tenant, indexed_tenant(database, "other") as other:
        await tenant.put("river mill", "river dam", "river river")
        await other.put("river elsewhere")
        assert await refresh(tenant) == 2
        counts = await counted(tenant)
        assert counts["river"] == 3
        assert "mill" not in counts
        assert await counted(other) == {}


async def test_a_count_in_progress_leaves_no_words_of_an_erased_tenant(database: Database) -> None:
    async with indexed_tenant(database) as tenant, database.connect("admin") as other:
        await tenant.put("river mill", "river dam")
        await stop(tenant)
        async with tenant.admin.transaction():
            assert await tenant.admin.fetchval("select all_tenants.refresh_statistics()") == 1
            erasing = asyncio.create_task(erase(tenant, other))
            await until_waiting(tenant, other)
        await erasing
        assert await counted(tenant) == {}
        assert await refresh(tenant) == 0
        left = "select count(*) from ingest.text_statistics where tenant_id = $1"
        assert await tenant.admin.fetchval(left, tenant.tenant_id) == 0


async def test_an_index_being_built_is_not_left_of_an_erased_tenant(database: Database) -> None:
    async with indexed_tenant(database) as tenant, database.connect("admin") as other:
        await tenant.put("river mill", "river dam")
        await refresh(tenant)
        await stop(tenant)
        async with tenant.admin.transaction():
            assert await tenant.admin.fetchval(TEND, 1) == 1
            erasing = asyncio.create_task(erase(tenant, other))
            await until_waiting(tenant, other)
        await erasing
        assert await tenant.count("vector_index") == 0
        built = "select count(*) from pg_indexes where indexname ~ '^hnsw_' and indexdef like $1"
        assert await tenant.admin.fetchval(built, f"%{tenant.tenant_id}%") == 0


async def test_a_tenant_erased_since_it_was_chosen_is_not_counted(database: Database) -> None:
    async with indexed_tenant(database) as tenant:
        await tenant.put("river mill", "river dam")
        await tenant.admin.execute(
            "create rule gone as on delete to ingest.text_move do instead nothing"
        )  # as if another call had deleted the rows between the choice and the count
        assert await refresh(tenant) == 0
        assert await counted(tenant) == {}


async def test_counting_waits_until_a_tenth_of_the_chunks_moved(database: Database) -> None:
    async with indexed_tenant(database) as tenant:
        await tenant.put(*[f"river number{place}" for place in range(40)])
        assert await refresh(tenant) == 1
        await tenant.put("river", "river", "river")
        assert await refresh(tenant) == 0
        await tenant.put("river")
        assert await refresh(tenant) == 1
        assert (await counted(tenant))["river"] == 44


async def test_only_live_chunks_are_counted_and_gone_words_are_forgotten(database: Database) -> None:
    async with indexed_tenant(database) as tenant:
        document_id = await tenant.put("river one", "river two")
        await refresh(tenant)
        await tenant.stage(document_id, ["lake one", "lake two"], 2)
        await tenant.flip(document_id, 2)
        await refresh(tenant)
        counts = await counted(tenant)
        assert "river" not in counts
        assert counts["lake"] == 2


async def test_a_large_tenant_gets_an_index_and_loses_it_when_small(database: Database) -> None:
    async with indexed_tenant(database) as tenant:
        document_id = await tenant.put(*[f"subject{place} of chunk{place}" for place in range(60)])
        await refresh(tenant)
        exact = [hit.ordinal for hit in await tenant.find("subject7 of chunk7", mode="vector", limit=5)]
        assert await maintain(tenant, 100) == 0
        assert await maintain(tenant, 50) == 1
        assert await maintain(tenant, 50) == 0
        plan = await tenant.admin.fetch(
            "select indexdef from pg_indexes where indexname ~ '^hnsw_' and indexdef like $1",
            f"%{tenant.tenant_id}%",
        )
        assert len(plan) == 1
        assert "halfvec(64)" in plan[0]["indexdef"]
        found = [hit.ordinal for hit in await tenant.find("subject7 of chunk7", mode="vector", limit=5)]
        assert found[0] == exact[0]
        assert await maintain(tenant, 120) == 0
        assert await maintain(tenant, 130) == 1
        assert await tenant.count("vector_index") == 0
        assert await tenant.found("subject7", mode="vector", limit=1) == [document_id]


async def test_the_index_is_used_and_returns_all_rows_there_are_under_a_filter(database: Database) -> None:
    async with indexed_tenant(database) as tenant:
        # Documents of the filter are the farthest from the query, so an index scan alone would run dry.
        for place in range(200):
            await tenant.put(f"alpha alpha alpha{place}", metadata={"kind": "near"})
        far = [await tenant.put(f"beta gamma{place}", metadata={"kind": "far"}) for place in range(3)]
        await refresh(tenant)
        assert await maintain(tenant, 100) == 1
        await tenant.admin.execute("analyze ingest.chunk_vector")
        found = await tenant.found("alpha", mode="vector", metadata={"kind": "far"})
        assert sorted(map(str, found)) == sorted(map(str, far))
        assert len(await tenant.find("alpha", mode="vector", limit=100)) == 100
        scans = "select sum(idx_scan) from pg_stat_user_indexes where indexrelname ~ '^hnsw_'"
        await eventually(lambda: tenant.admin.fetchval(scans), what="the index was used")


async def test_an_index_is_built_later_when_a_writer_holds_a_lock(database: Database) -> None:
    async with indexed_tenant(database) as tenant, database.connect("admin") as writer:
        await tenant.put(*[f"subject{place}" for place in range(20)])
        await refresh(tenant)
        async with writer.transaction():
            await writer.execute("lock table ingest.chunk_vector in row exclusive mode")
            assert await maintain(tenant, 10) == 0
        assert await maintain(tenant, 10) == 1
