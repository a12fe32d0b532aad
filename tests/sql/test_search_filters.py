"""A filter returns as many rows as exist, and no search shows what is deleted, dead or another tenant's."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from penstock.errors import NotFound
from penstock.model import DocumentId, uuid7
from tests.plugins.database import Database
from tests.sql.indexed_tenant import IndexedTenant, indexed_tenant

FILTERS: list[dict[str, Any]] = [
    {"types": ["application/pdf", "text/html"]},
    {"metadata": {"team": {"name": "red"}}},
    {"created_after": datetime(2020, 1, 1, tzinfo=UTC), "created_before": datetime(2021, 1, 1, tzinfo=UTC)},
    {"projects": ["second"]},
]


async def second_project(tenant: IndexedTenant) -> UUID:
    project_id = uuid7()
    await tenant.admin.execute(
        "insert into accounts.project (project_id, tenant_id, slug, name, embedder, created_at)"
        " values ($1, $2, 'second', 'second', 'words', now())",
        project_id,
        tenant.tenant_id,
    )
    return project_id


async def fill(tenant: IndexedTenant) -> list[DocumentId]:
    """Many documents near the query, and three far from it that pass each of the filters."""
    second = await second_project(tenant)
    for place in range(120):
        await tenant.put(f"alpha beta{place % 7}", metadata={"team": {"name": "blue"}})
    return [
        await tenant.put(
            f"alpha unlike the others {place} gamma delta epsilon zeta eta theta",
            project_id=second,
            mime_type="application/pdf",
            metadata={"team": {"name": "red", "size": place}, "year": 2020},
            created_at=datetime(2020, 6, 1 + place, tzinfo=UTC),
        )
        for place in range(3)
    ]


@pytest.mark.parametrize("indexed", [False, True], ids=["exact", "hnsw"])
async def test_every_filter_returns_all_rows_that_exist(database: Database, indexed: bool) -> None:
    async with indexed_tenant(database, exact_search_chunks=50 if indexed else 50_000) as tenant:
        rare = await fill(tenant)
        await tenant.index.maintain()
        assert await tenant.count("vector_index") == int(indexed)
        for mode in ("hybrid", "vector", "text"):
            for narrowed in FILTERS:
                found = await tenant.found("alpha", mode=mode, **narrowed)
                assert sorted(map(str, found)) == sorted(map(str, rare)), (mode, narrowed)
            assert await tenant.found("alpha", mode=mode, document_ids=[rare[1]]) == [rare[1]]
            assert await tenant.found("alpha", mode=mode, metadata={"team": "red"}) == []
        assert len(await tenant.found("alpha", limit=100)) == 100


async def test_all_filters_at_once_narrow_together(database: Database) -> None:
    async with indexed_tenant(database) as tenant:
        rare = await fill(tenant)
        together = {key: value for narrowed in FILTERS for key, value in narrowed.items()}
        assert sorted(map(str, await tenant.found("alpha", **together))) == sorted(map(str, rare))
        assert await tenant.found("alpha", **{**together, "types": ["text/html"]}) == []


async def test_a_source_is_a_filter(database: Database) -> None:
    async with indexed_tenant(database) as tenant:
        source_id = uuid7()
        await tenant.admin.execute(
            "insert into ingest.source (source_id, tenant_id, project_id, kind, name, created_at, updated_at)"
            " values ($1, $2, $3, 'webhook', 'hook', now(), now())",
            source_id,
            tenant.tenant_id,
            tenant.project_id,
        )
        await tenant.put("alpha by hand")
        hooked = await tenant.put("alpha by hook", source_id=source_id)
        assert await tenant.found("alpha", source_ids=[source_id]) == [hooked]
        assert await tenant.found("alpha", source_ids=[uuid7()]) == []


async def test_a_deleted_document_is_out_of_every_search(database: Database) -> None:
    async with indexed_tenant(database) as tenant:
        kept = await tenant.put("alpha kept")
        gone = await tenant.put("alpha gone")
        await tenant.delete(gone)
        for mode in ("hybrid", "vector", "text"):
            assert await tenant.found("alpha gone", mode=mode) == [kept]


async def test_many_dead_generations_do_not_hide_the_live_one(database: Database) -> None:
    async with indexed_tenant(database) as tenant:
        document_id = await tenant.put(*["alpha alpha alpha"] * 400)
        await tenant.stage(document_id, ["alpha at last"], 2)
        await tenant.flip(document_id, 2)
        for mode in ("hybrid", "vector", "text"):
            assert [hit.text for hit in await tenant.find("alpha", mode=mode)] == ["alpha at last"]


async def test_a_tenant_finds_nothing_of_another(database: Database) -> None:
    async with indexed_tenant(database) as tenant, indexed_tenant(database, "other") as other:
        theirs = await other.put("alpha of the other")
        assert await tenant.found("alpha") == []
        assert await tenant.found("alpha", document_ids=[theirs]) == []
        with pytest.raises(NotFound):
            await tenant.found("alpha", projects=[str(other.project_id)])


async def test_vectors_of_another_model_are_not_compared(database: Database) -> None:
    async with indexed_tenant(database) as tenant:
        await tenant.put("alpha in the live model")
        await tenant.admin.execute("update ingest.chunk_vector set model = 'words-of-last-year'")
        assert await tenant.found("alpha", mode="vector") == []
        assert len(await tenant.found("alpha", mode="text")) == 1
