"""Chunks are staged beside the live ones, taken back, erased and swept; embeddings are cached."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import numpy as np
import pytest

from penstock.errors import IndexNotReady, InvalidArgument, InvalidMove, NotFound
from penstock.index.vectors import as_floats, as_text
from penstock.model import Vector
from tests.plugins.database import Database
from tests.plugins.workers import eventually
from tests.sql.shelf import Shelf, shelf_of

TABLES = ("chunk", "chunk_vector", "posting")


async def keep(shelf: Shelf, *texts: str) -> None:
    """The embeddings of these texts, as the pipeline caches them."""
    document_id = await shelf.document()
    chunks = await shelf.stage(document_id, texts)
    async with shelf.tenants.transaction(shelf.tenant_id) as connection:
        await connection.execute(
            "select ingest.keep_embeddings($1, $2, $3, $4)",
            shelf.words.model,
            [chunk.input_sha256 for chunk in chunks],
            [shelf.words.vector(chunk.embedder_input) for chunk in chunks],
            [1] * len(chunks),
        )
        await connection.execute("select ingest.drop_generation($1, 1)", document_id)


async def test_staged_chunks_are_found_only_after_the_flip(database: Database) -> None:
    async with shelf_of(database) as shelf:
        document_id = await shelf.put("the old wording about turbines")
        await shelf.stage(document_id, ["a new wording about turbines", "and a second chunk of turbines"], 2)
        assert [hit.text for hit in await shelf.find("turbines")] == ["the old wording about turbines"]
        await shelf.flip(document_id, 2)
        found = sorted(hit.text for hit in await shelf.find("turbines"))
        assert found == ["a new wording about turbines", "and a second chunk of turbines"]


async def test_the_same_batch_twice_changes_nothing(database: Database) -> None:
    async with shelf_of(database) as shelf:
        document_id = await shelf.document()
        await shelf.stage(document_id, ["water wheel", "water gate"])
        before = [await shelf.count(table) for table in TABLES]
        await shelf.stage(document_id, ["water wheel", "water gate"])
        assert [await shelf.count(table) for table in TABLES] == before == [2, 2, 7]


async def test_more_chunks_than_a_batch_are_all_staged(database: Database) -> None:
    async with shelf_of(database) as shelf:
        document_id = await shelf.document()
        await shelf.stage(document_id, [f"chunk number{place}" for place in range(1_201)])
        assert await shelf.count("chunk") == await shelf.count("chunk_vector") == 1_201


async def test_a_live_generation_is_neither_staged_nor_dropped(database: Database) -> None:
    async with shelf_of(database) as shelf:
        document_id = await shelf.put("a live chunk")
        with pytest.raises(InvalidMove, match="is live"):
            await shelf.stage(document_id, ["another"])
        with pytest.raises(InvalidMove, match="is live"):
            await shelf.index.drop(shelf.tenant_id, document_id, [1])
        with pytest.raises(InvalidMove, match="is not deleted"):
            await shelf.index.drop_document(shelf.tenant_id, document_id)


async def test_nothing_is_staged_for_a_deleted_document_or_another_tenants(database: Database) -> None:
    async with shelf_of(database) as shelf, shelf_of(database, "other") as other:
        document_id = await shelf.document()
        with pytest.raises(NotFound):
            await other.stage(document_id, ["not mine"])
        await shelf.delete(document_id)
        with pytest.raises(NotFound):
            await shelf.stage(document_id, ["too late"])


async def test_a_dropped_generation_leaves_no_rows(database: Database) -> None:
    async with shelf_of(database) as shelf:
        document_id = await shelf.document()
        await shelf.stage(document_id, ["one", "two"])
        await shelf.index.drop(shelf.tenant_id, document_id, [1])
        assert [await shelf.count(table) for table in TABLES] == [0, 0, 0]


async def test_erasing_takes_the_cached_embeddings_nobody_else_uses(database: Database) -> None:
    async with shelf_of(database) as shelf:
        await keep(shelf, "shared text", "own text")
        both = await shelf.put("shared text", "own text")
        other = await shelf.put("shared text")
        assert await shelf.count("embedding_cache") == 2
        await shelf.delete(both)
        await shelf.index.drop_document(shelf.tenant_id, both)
        assert await shelf.count("embedding_cache") == 1
        assert await shelf.found("shared") == [other]
        await shelf.delete(other)
        await shelf.index.drop_document(shelf.tenant_id, other)
        assert [await shelf.count(table) for table in (*TABLES, "embedding_cache")] == [0, 0, 0, 0]


async def test_erasing_waits_for_a_batch_that_is_being_staged(database: Database) -> None:
    async with shelf_of(database) as shelf, database.connect("admin") as second:
        document_id = await shelf.document()
        async with shelf.tenants.transaction(shelf.tenant_id) as connection:
            await connection.execute(
                "select ingest.stage_chunks("
                "$1, 1, 'm', '{0}', $2, '{x}', '{1}', '{0}', '{1}', '{1}', '{1}', '[[]]', $3)",
                document_id,
                [document_id],
                [b"0" * 32],
            )
            deleting = asyncio.create_task(
                second.execute(
                    "update ingest.document set status = 'deleted', deleted_at = now()"
                    " where document_id = $1",
                    document_id,
                )
            )
            await eventually(
                lambda: shelf.admin.fetchval("select exists (select from pg_locks where not granted)")
            )
            assert not deleting.done()
        await deleting


async def test_a_tenant_does_not_see_what_another_has_cached(database: Database) -> None:
    async with shelf_of(database) as shelf, shelf_of(database, "other") as other:
        await keep(shelf, "a text both have")
        sha256 = await shelf.admin.fetchval("select text_sha256 from ingest.embedding_cache")
        cached = "select * from ingest.cached_embeddings($1, $2)"
        assert len(await shelf.rows(cached, shelf.words.model, [sha256])) == 1
        assert await other.rows(cached, shelf.words.model, [sha256]) == []
        assert await shelf.rows(cached, "another-model", [sha256]) == []


async def test_cached_embeddings_nobody_asks_for_are_forgotten(database: Database) -> None:
    async with shelf_of(database) as shelf:
        await keep(shelf, "asked for", "never again")
        asked = await shelf.admin.fetchval("select text_sha256 from ingest.embedding_cache limit 1")
        await shelf.admin.execute(
            "update ingest.embedding_cache set used_at = now() - $1::interval", timedelta(days=91)
        )
        await shelf.rows("select * from ingest.cached_embeddings($1, $2)", shelf.words.model, [asked])
        await shelf.index.tend()
        assert await shelf.admin.fetchval("select text_sha256 from ingest.embedding_cache") == asked


async def test_as_many_embeddings_as_hashes_are_kept_or_none(database: Database) -> None:
    async with shelf_of(database) as shelf:
        with pytest.raises(InvalidArgument):
            await shelf.rows("select ingest.keep_embeddings('m', $1, $2, $3)", [b"a"], [b"v", b"w"], [1])


async def test_the_sweep_takes_what_is_due_and_spares_what_is_live(database: Database) -> None:
    async with shelf_of(database) as shelf:
        document_id = await shelf.put("the first version")
        await shelf.stage(document_id, ["the second version"], 2)
        await shelf.flip(document_id, 2)
        await shelf.admin.execute(
            "insert into ingest.sweep values ($1, $2, 2, now())", shelf.tenant_id, document_id
        )
        await shelf.index.tend()
        assert await shelf.count("sweep") == 0
        assert [
            row["generation"] for row in await shelf.admin.fetch("select generation from ingest.chunk")
        ] == [2]
        assert [hit.text for hit in await shelf.find("version")] == ["the second version"]


async def test_what_a_document_no_longer_says_is_not_kept_in_the_cache(database: Database) -> None:
    async with shelf_of(database) as shelf:
        await keep(shelf, "said before", "said still", "said by an attempt that failed")
        document_id = await shelf.put("said before", "said still")
        await shelf.stage(document_id, ["said anew", "said still"], 2)
        await shelf.flip(document_id, 2)
        await shelf.stage(document_id, ["", "", "said by an attempt that failed"], 3)
        await shelf.admin.execute(
            "insert into ingest.sweep values ($1, $2, 3, now())", shelf.tenant_id, document_id
        )
        await shelf.index.tend()
        assert await shelf.count("sweep") == 0
        assert await shelf.count("chunk") == 2
        assert await shelf.count("embedding_cache") == 2


async def test_vectors_of_16_bits_come_through_text_exactly(database: Database) -> None:
    values = np.concatenate(
        [
            np.random.default_rng(1).normal(size=500).astype("<f2"),
            np.array([0, 1, -1, 6e-8, 65504, -0.5], "<f2"),
        ]
    )
    vector = Vector(values.tobytes())
    async with shelf_of(database) as shelf:
        stored = await shelf.admin.fetchval("select ($1::text)::halfvec::float4[]", as_text(vector))
        assert stored == as_floats(vector)
        by_sql = await shelf.admin.fetchval("select ingest.vector_text($1)::halfvec::float4[]", vector)
        assert by_sql == as_floats(vector)


async def test_without_pgvector_the_remedy_is_told_and_another_schema_serves(database: Database) -> None:
    async with shelf_of(database) as shelf:
        await shelf.admin.execute(
            "drop table ingest.chunk_vector, ingest.client_vector; drop extension vector"
        )
        document_id = await shelf.document()
        with pytest.raises(IndexNotReady, match="create extension vector"):
            await shelf.stage(document_id, ["nowhere to put the vector"])
        await shelf.admin.execute(
            "create schema elsewhere; create extension vector schema elsewhere;"
            "grant usage on schema elsewhere to penstock_owner, penstock_keeper"
        )
        await shelf.index.tend()
        await shelf.stage(document_id, ["somewhere to put the vector"])
        await shelf.flip(document_id)
        assert await shelf.found("vector", mode="vector") == [document_id]
        forced = await shelf.admin.fetchval(
            "select bool_and(relrowsecurity and relforcerowsecurity) from pg_class"
            " where relname ~ '^(chunk|client)_vector(_[0-9])?$'"
        )
        assert forced is True
