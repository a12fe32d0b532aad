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
from tests.sql.indexed_tenant import IndexedTenant, indexed_tenant

TABLES = ("chunk", "chunk_vector", "posting")


async def keep(tenant: IndexedTenant, *texts: str) -> None:
    """The embeddings of these texts, as the pipeline caches them."""
    document_id = await tenant.document()
    chunks = await tenant.stage(document_id, texts)
    async with tenant.tenants.transaction(tenant.tenant_id) as connection:
        await connection.execute(
            "select ingest.keep_embeddings($1, $2, $3, $4)",
            tenant.words.model,
            [chunk.input_sha256 for chunk in chunks],
            [tenant.words.vector(chunk.embedder_input) for chunk in chunks],
            [1] * len(chunks),
        )
        await connection.execute("select ingest.drop_generation($1, 1)", document_id)


async def test_staged_chunks_are_found_only_after_the_flip(database: Database) -> None:
    async with indexed_tenant(database) as tenant:
        document_id = await tenant.put("the old wording about turbines")
        await tenant.stage(document_id, ["a new wording about turbines", "and a second chunk of turbines"], 2)
        assert [hit.text for hit in await tenant.find("turbines")] == ["the old wording about turbines"]
        await tenant.flip(document_id, 2)
        found = sorted(hit.text for hit in await tenant.find("turbines"))
        assert found == ["a new wording about turbines", "and a second chunk of turbines"]


async def test_the_same_batch_twice_changes_nothing(database: Database) -> None:
    async with indexed_tenant(database) as tenant:
        document_id = await tenant.document()
        await tenant.stage(document_id, ["water wheel", "water gate"])
        before = [await tenant.count(table) for table in TABLES]
        await tenant.stage(document_id, ["water wheel", "water gate"])
        assert [await tenant.count(table) for table in TABLES] == before == [2, 2, 7]


async def test_more_chunks_than_a_batch_are_all_staged(database: Database) -> None:
    async with indexed_tenant(database) as tenant:
        document_id = await tenant.document()
        await tenant.stage(document_id, [f"chunk number{place}" for place in range(1_201)])
        assert await tenant.count("chunk") == await tenant.count("chunk_vector") == 1_201


async def test_a_live_generation_is_neither_staged_nor_dropped(database: Database) -> None:
    async with indexed_tenant(database) as tenant:
        document_id = await tenant.put("a live chunk")
        with pytest.raises(InvalidMove, match="is live"):
            await tenant.stage(document_id, ["another"])
        with pytest.raises(InvalidMove, match="is live"):
            await tenant.index.drop(tenant.tenant_id, document_id, [1])
        with pytest.raises(InvalidMove, match="is not deleted"):
            await tenant.index.drop_document(tenant.tenant_id, document_id)


async def test_nothing_is_staged_for_a_deleted_document_or_another_tenants(database: Database) -> None:
    async with indexed_tenant(database) as tenant, indexed_tenant(database, "other") as other:
        document_id = await tenant.document()
        with pytest.raises(NotFound):
            await other.stage(document_id, ["not mine"])
        await tenant.delete(document_id)
        with pytest.raises(NotFound):
            await tenant.stage(document_id, ["too late"])


async def test_a_dropped_generation_leaves_no_rows(database: Database) -> None:
    async with indexed_tenant(database) as tenant:
        document_id = await tenant.document()
        await tenant.stage(document_id, ["one", "two"])
        await tenant.index.drop(tenant.tenant_id, document_id, [1])
        assert [await tenant.count(table) for table in TABLES] == [0, 0, 0]


async def test_erasing_removes_cached_embeddings_that_no_other_document_uses(database: Database) -> None:
    async with indexed_tenant(database) as tenant:
        await keep(tenant, "shared text", "own text")
        both = await tenant.put("shared text", "own text")
        other = await tenant.put("shared text")
        assert await tenant.count("embedding_cache") == 2
        await tenant.delete(both)
        await tenant.index.drop_document(tenant.tenant_id, both)
        assert await tenant.count("embedding_cache") == 1
        assert await tenant.found("shared") == [other]
        await tenant.delete(other)
        await tenant.index.drop_document(tenant.tenant_id, other)
        assert [await tenant.count(table) for table in (*TABLES, "embedding_cache")] == [0, 0, 0, 0]


async def test_erasing_waits_for_a_batch_that_is_being_staged(database: Database) -> None:
    async with indexed_tenant(database) as tenant, database.connect("admin") as second:
        document_id = await tenant.document()
        async with tenant.tenants.transaction(tenant.tenant_id) as connection:
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
                lambda: tenant.admin.fetchval(
                    "select exists (select from pg_locks where not granted and pid = $1)",
                    second.get_server_pid(),
                )
            )
            assert not deleting.done()
        await deleting


async def test_a_tenant_does_not_see_what_another_has_cached(database: Database) -> None:
    async with indexed_tenant(database) as tenant, indexed_tenant(database, "other") as other:
        await keep(tenant, "a text both have")
        sha256 = await tenant.admin.fetchval("select text_sha256 from ingest.embedding_cache")
        cached = "select * from ingest.cached_embeddings($1, $2)"
        assert len(await tenant.rows(cached, tenant.words.model, [sha256])) == 1
        assert await other.rows(cached, tenant.words.model, [sha256]) == []
        assert await tenant.rows(cached, "another-model", [sha256]) == []


async def test_unused_cached_embeddings_are_removed(database: Database) -> None:
    async with indexed_tenant(database) as tenant:
        await keep(tenant, "asked for", "never again")
        asked = await tenant.admin.fetchval("select text_sha256 from ingest.embedding_cache limit 1")
        await tenant.admin.execute(
            "update ingest.embedding_cache set used_at = now() - $1::interval", timedelta(days=91)
        )
        await tenant.rows("select * from ingest.cached_embeddings($1, $2)", tenant.words.model, [asked])
        await tenant.index.maintain()
        assert await tenant.admin.fetchval("select text_sha256 from ingest.embedding_cache") == asked


async def test_as_many_embeddings_as_hashes_are_kept_or_none(database: Database) -> None:
    async with indexed_tenant(database) as tenant:
        with pytest.raises(InvalidArgument):
            await tenant.rows("select ingest.keep_embeddings('m', $1, $2, $3)", [b"a"], [b"v", b"w"], [1])


async def test_the_sweep_removes_what_is_due_and_keeps_what_is_live(database: Database) -> None:
    async with indexed_tenant(database) as tenant:
        document_id = await tenant.put("the first version")
        await tenant.stage(document_id, ["the second version"], 2)
        await tenant.flip(document_id, 2)
        await tenant.admin.execute(
            "insert into ingest.sweep values ($1, $2, 2, now())", tenant.tenant_id, document_id
        )
        await tenant.index.maintain()
        assert await tenant.count("sweep") == 0
        assert [
            row["generation"] for row in await tenant.admin.fetch("select generation from ingest.chunk")
        ] == [2]
        assert [hit.text for hit in await tenant.find("version")] == ["the second version"]


async def test_texts_a_document_no_longer_contains_are_removed_from_the_cache(database: Database) -> None:
    async with indexed_tenant(database) as tenant:
        await keep(tenant, "said before", "said still", "said by an attempt that failed")
        document_id = await tenant.put("said before", "said still")
        await tenant.stage(document_id, ["said again", "said still"], 2)
        await tenant.flip(document_id, 2)
        await tenant.stage(document_id, ["", "", "said by an attempt that failed"], 3)
        await tenant.admin.execute(
            "insert into ingest.sweep values ($1, $2, 3, now())", tenant.tenant_id, document_id
        )
        await tenant.index.maintain()
        assert await tenant.count("sweep") == 0
        assert await tenant.count("chunk") == 2
        assert await tenant.count("embedding_cache") == 2


async def test_vectors_of_16_bits_come_through_text_exactly(database: Database) -> None:
    values = np.concatenate(
        [
            np.random.default_rng(1).normal(size=500).astype("<f2"),
            np.array([0, 1, -1, 6e-8, 65504, -0.5], "<f2"),
        ]
    )
    vector = Vector(values.tobytes())
    async with indexed_tenant(database) as tenant:
        stored = await tenant.admin.fetchval("select ($1::text)::halfvec::float4[]", as_text(vector))
        assert stored == as_floats(vector)
        by_sql = await tenant.admin.fetchval("select ingest.vector_text($1)::halfvec::float4[]", vector)
        assert by_sql == as_floats(vector)


async def test_without_pgvector_the_error_names_the_remedy_and_any_schema_works(database: Database) -> None:
    async with indexed_tenant(database) as tenant:
        await tenant.admin.execute(
            "drop table ingest.chunk_vector, ingest.client_vector; drop extension vector"
        )
        document_id = await tenant.document()
        with pytest.raises(IndexNotReady, match="create extension vector"):
            await tenant.stage(document_id, ["nowhere to put the vector"])
        await tenant.admin.execute(
            "create schema elsewhere; create extension vector schema elsewhere;"
            "grant usage on schema elsewhere to penstock_owner, penstock_all_tenants"
        )
        await tenant.index.maintain()
        await tenant.stage(document_id, ["somewhere to put the vector"])
        await tenant.flip(document_id)
        assert await tenant.found("vector", mode="vector") == [document_id]
        forced = await tenant.admin.fetchval(
            "select bool_and(relrowsecurity and relforcerowsecurity) from pg_class"
            " where relname ~ '^(chunk|client)_vector(_[0-9])?$'"
        )
        assert forced is True
