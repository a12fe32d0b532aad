"""Word counts are refreshed when much moved, and large tenants get an HNSW index of their own."""

from __future__ import annotations

import asyncio

from tests.plugins.database import Database
from tests.plugins.workers import eventually
from tests.sql.shelf import Shelf, shelf_of

TEND = "select keeping.tend_vector_indexes($1)"


async def counted(shelf: Shelf) -> dict[str, int]:
    rows = await shelf.admin.fetch(
        "select lexeme, df from ingest.lexeme_count where tenant_id = $1", shelf.tenant_id
    )
    return {row["lexeme"]: row["df"] for row in rows}


async def refresh(shelf: Shelf) -> int:
    async with shelf.tenants.everyone() as connection:
        tenants: int = await connection.fetchval("select keeping.refresh_statistics()")
        return tenants


async def tend(shelf: Shelf, threshold: int) -> int:
    async with shelf.tenants.everyone() as connection:
        changed: int = await connection.fetchval(TEND, threshold)
        return changed


async def test_words_of_several_chunks_are_counted_and_those_of_one_are_not(database: Database) -> None:
    async with shelf_of(database) as shelf, shelf_of(database, "other") as other:
        await shelf.put("river mill", "river dam", "river river")
        await other.put("river elsewhere")
        assert await refresh(shelf) == 2
        counts = await counted(shelf)
        assert counts["river"] == 3
        assert "mill" not in counts
        assert await counted(other) == {}


async def test_a_count_under_way_leaves_no_words_of_an_erased_tenant(database: Database) -> None:
    async with shelf_of(database) as shelf, database.connect("admin") as other:
        await shelf.put("river mill", "river dam")
        await shelf.admin.execute("select queues.put_queue('spared')")
        await shelf.admin.execute("select queues.stop_tenant($1, 'spared')", shelf.tenant_id)

        async def erase() -> None:
            async with other.transaction():
                await other.execute("select set_config('penstock.tenant_id', $1, true)", str(shelf.tenant_id))
                await other.execute("select internal.erase_tenant($1)", shelf.tenant_id)

        async with shelf.admin.transaction():
            assert await shelf.admin.fetchval("select keeping.refresh_statistics()") == 1
            erasing = asyncio.create_task(erase())
            waiting = "select count(*) > 0 from pg_locks where locktype = 'advisory' and not granted"
            await eventually(lambda: shelf.admin.fetchval(waiting), what="the erasure waits for the count")
        await erasing
        assert await counted(shelf) == {}
        assert await refresh(shelf) == 0
        left = "select count(*) from ingest.text_statistics where tenant_id = $1"
        assert await shelf.admin.fetchval(left, shelf.tenant_id) == 0


async def test_a_tenant_erased_since_it_was_chosen_is_not_counted(database: Database) -> None:
    async with shelf_of(database) as shelf:
        await shelf.put("river mill", "river dam")
        await shelf.admin.execute(
            "create rule gone as on delete to ingest.text_move do instead nothing"
        )  # as if another call had deleted the rows between the choice and the count
        assert await refresh(shelf) == 0
        assert await counted(shelf) == {}


async def test_counting_waits_until_a_tenth_of_the_chunks_moved(database: Database) -> None:
    async with shelf_of(database) as shelf:
        await shelf.put(*[f"river number{place}" for place in range(40)])
        assert await refresh(shelf) == 1
        await shelf.put("river", "river", "river")
        assert await refresh(shelf) == 0
        await shelf.put("river")
        assert await refresh(shelf) == 1
        assert (await counted(shelf))["river"] == 44


async def test_only_live_chunks_are_counted_and_gone_words_are_forgotten(database: Database) -> None:
    async with shelf_of(database) as shelf:
        document_id = await shelf.put("river one", "river two")
        await refresh(shelf)
        await shelf.stage(document_id, ["lake one", "lake two"], 2)
        await shelf.flip(document_id, 2)
        await refresh(shelf)
        counts = await counted(shelf)
        assert "river" not in counts
        assert counts["lake"] == 2


async def test_a_large_tenant_gets_an_index_and_loses_it_when_small(database: Database) -> None:
    async with shelf_of(database) as shelf:
        document_id = await shelf.put(*[f"subject{place} of chunk{place}" for place in range(60)])
        await refresh(shelf)
        exact = [hit.ordinal for hit in await shelf.find("subject7 of chunk7", mode="vector", limit=5)]
        assert await tend(shelf, 100) == 0
        assert await tend(shelf, 50) == 1
        assert await tend(shelf, 50) == 0
        plan = await shelf.admin.fetch(
            "select indexdef from pg_indexes where indexname ~ '^hnsw_' and indexdef like $1",
            f"%{shelf.tenant_id}%",
        )
        assert len(plan) == 1
        assert "halfvec(64)" in plan[0]["indexdef"]
        found = [hit.ordinal for hit in await shelf.find("subject7 of chunk7", mode="vector", limit=5)]
        assert found[0] == exact[0]
        assert await tend(shelf, 120) == 0
        assert await tend(shelf, 130) == 1
        assert await shelf.count("vector_index") == 0
        assert await shelf.found("subject7", mode="vector", limit=1) == [document_id]


async def test_the_index_is_used_and_returns_all_rows_there_are_under_a_filter(database: Database) -> None:
    async with shelf_of(database) as shelf:
        # Documents of the filter are the farthest from the query, so an index scan alone would run dry.
        for place in range(200):
            await shelf.put(f"alpha alpha alpha{place}", metadata={"kind": "near"})
        far = [await shelf.put(f"beta gamma{place}", metadata={"kind": "far"}) for place in range(3)]
        await refresh(shelf)
        assert await tend(shelf, 100) == 1
        await shelf.admin.execute("analyze ingest.chunk_vector")
        found = await shelf.found("alpha", mode="vector", metadata={"kind": "far"})
        assert sorted(map(str, found)) == sorted(map(str, far))
        assert len(await shelf.find("alpha", mode="vector", limit=100)) == 100
        scans = "select sum(idx_scan) from pg_stat_user_indexes where indexrelname ~ '^hnsw_'"
        await eventually(lambda: shelf.admin.fetchval(scans), what="the index was used")


async def test_an_index_is_built_later_when_a_writer_is_in_the_way(database: Database) -> None:
    async with shelf_of(database) as shelf, database.connect("admin") as writer:
        await shelf.put(*[f"subject{place}" for place in range(20)])
        await refresh(shelf)
        async with writer.transaction():
            await writer.execute("lock table ingest.chunk_vector in row exclusive mode")
            assert await tend(shelf, 10) == 0
        assert await tend(shelf, 10) == 1
