"""The index in Qdrant: by its client's local mode, and by a server where PENSTOCK_QDRANT_URL names one."""

from __future__ import annotations

# The client of Qdrant takes two seconds to import, and every worker of a run imports this module: it is
# imported where it is used.
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from penstock.db.tenancy import TenantPool
from penstock.errors import IndexUnavailable, SettingInvalid
from penstock.index import open_index
from penstock.settings import Settings
from tests.plugins.database import Database
from tests.sql.indexed_tenant import IndexedTenant, indexed_tenant

if TYPE_CHECKING:
    from qdrant_client import AsyncQdrantClient

ADDRESS = os.environ.get("PENSTOCK_QDRANT_URL") or ":memory:"


@asynccontextmanager
async def qdrant_tenant(
    database: Database, slug: str = "acme", address: str = ADDRESS
) -> AsyncIterator[IndexedTenant]:
    from penstock.index.qdrant import QdrantIndex

    tenants = await TenantPool.open(database.runtime_url, application_name="qdrant", size=4)
    index = QdrantIndex.open(address, None, tenants)
    try:
        async with indexed_tenant(database, slug, index=index) as tenant:
            yield tenant
            for collection in await collections(tenant):
                await client(tenant).delete_collection(collection)
    finally:
        await index.close()
        await tenants.close()


def client(tenant: IndexedTenant) -> AsyncQdrantClient:
    from penstock.index.qdrant import QdrantIndex

    assert isinstance(tenant.index, QdrantIndex)
    return tenant.index._client  # what lies in it, past the index


async def collections(tenant: IndexedTenant) -> list[str]:
    from penstock.index.qdrant_points import tenant_prefix

    answer = await client(tenant).get_collections()
    return [
        found.name for found in answer.collections if found.name.startswith(tenant_prefix(tenant.tenant_id))
    ]


async def payloads(tenant: IndexedTenant) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for collection in await collections(tenant):
        points, _ = await client(tenant).scroll(collection, limit=10_000, with_payload=True)
        found += [point.payload or {} for point in points]
    return found


async def test_chunks_are_in_the_collection_of_their_tenant_and_project(database: Database) -> None:
    async with qdrant_tenant(database) as tenant:
        document_id = await tenant.put(*[f"alpha chunk{place}" for place in range(250)])
        (name,) = await collections(tenant)
        assert name.startswith(f"penstock_{tenant.tenant_id.hex}_{tenant.project_id.hex}_")
        stored = await payloads(tenant)
        assert sorted(point["chunkIndex"] for point in stored) == list(range(250))
        assert {point["documentId"] for point in stored} == {str(document_id)}
        assert {(point["tenantId"], point["generation"], point["isDeleted"]) for point in stored} == {
            (str(tenant.tenant_id), 1, False)
        }
        assert await tenant.count("chunk") == 250
        assert await tenant.count("chunk_vector") == 0


async def test_search_by_vector_words_and_both_finds_what_lies_there(database: Database) -> None:
    async with qdrant_tenant(database) as tenant:
        for place in range(20):
            await tenant.put(f"turbine of mill{place}")
        wanted = await tenant.put("the sluice and its gate", title="Sluice")
        for mode in ("hybrid", "vector", "text"):
            hit = (await tenant.find("sluice gates", mode=mode))[0]
            assert (hit.document_id, hit.title) == (wanted, "Sluice")
            assert (hit.vector_rank is None) == (mode == "text")
            assert (hit.text_rank is None) == (mode == "vector")
        assert len(await tenant.find("turbine", limit=100, mode="text")) == 20


async def test_the_same_batch_twice_is_stored_once(database: Database) -> None:
    async with qdrant_tenant(database) as tenant:
        document_id = await tenant.document()
        await tenant.stage(document_id, ["alpha", "beta"])
        await tenant.stage(document_id, ["alpha", "beta"])
        assert len(await payloads(tenant)) == 2


async def test_a_dead_generation_is_dropped_marked_and_removed_a_day_later(database: Database) -> None:
    async with qdrant_tenant(database) as tenant:
        document_id = await tenant.put(*["alpha old"] * 150)
        await tenant.stage(document_id, ["alpha new"], 2)
        assert {hit.text for hit in await tenant.find("alpha", limit=100)} == {"alpha old"}
        await tenant.flip(document_id, 2)
        for mode in ("hybrid", "vector", "text"):
            assert [hit.text for hit in await tenant.find("alpha", mode=mode)] == ["alpha new"]
        await tenant.index.maintain()
        marked = {(point["generation"], point["isDeleted"]) for point in await payloads(tenant)}
        assert marked == {(1, True), (2, False)}
        assert await tenant.count("chunk") == 151
        await tenant.admin.execute("update ingest.sweep set marked_at = marked_at - interval '25 hours'")
        await tenant.index.maintain()
        assert {point["generation"] for point in await payloads(tenant)} == {2}
        assert await tenant.count("chunk") == 1
        assert await tenant.count("sweep") == 0


async def test_a_deleted_document_is_out_of_search_at_once_and_then_out_of_qdrant(database: Database) -> None:
    async with qdrant_tenant(database) as tenant:
        document_id = await tenant.put("alpha gone")
        await tenant.delete(document_id)
        assert await tenant.find("alpha") == ()
        await tenant.index.drop_document(tenant.tenant_id, document_id)
        assert await payloads(tenant) == []
        assert await tenant.count("chunk") == await tenant.count("posting") == 0


async def test_a_generation_taken_back_leaves_nothing(database: Database) -> None:
    async with qdrant_tenant(database) as tenant:
        document_id = await tenant.put("alpha live")
        await tenant.stage(document_id, ["alpha staged"], 2)
        await tenant.index.drop(tenant.tenant_id, document_id, [2])
        assert [point["generation"] for point in await payloads(tenant)] == [1]


async def test_a_filter_returns_all_rows_that_exist(database: Database) -> None:
    async with qdrant_tenant(database) as tenant:
        for place in range(150):
            await tenant.put(f"alpha beta{place % 7}")
        rare = [
            await tenant.put(
                f"alpha unlike {place} gamma delta epsilon",
                mime_type="application/pdf",
                created_at=datetime(2020, 1, 1 + place, tzinfo=UTC),
                metadata={"team": "red"},
            )
            for place in range(3)
        ]
        for mode in ("hybrid", "vector", "text"):
            for narrowed in ({"types": ["application/pdf"]}, {"metadata": {"team": "red"}}):
                found = await tenant.found("alpha", mode=mode, **narrowed)
                assert sorted(map(str, found)) == sorted(map(str, rare))
        assert await tenant.found("alpha", types=["image/png"]) == []


async def test_a_search_does_not_find_chunks_of_another_tenant(database: Database) -> None:
    async with qdrant_tenant(database) as tenant, qdrant_tenant(database, "other") as other:
        await other.put("alpha of the other")
        assert await tenant.find("alpha") == ()


async def test_a_server_that_does_not_answer_is_reported(database: Database) -> None:
    from penstock.index.qdrant import QdrantIndex

    tenants = await TenantPool.open(database.runtime_url, application_name="qdrant", size=2)
    index = QdrantIndex.open("http://127.0.0.1:1", None, tenants)
    try:
        async with indexed_tenant(database, index=index) as tenant:
            document_id = await tenant.document()
            with pytest.raises(IndexUnavailable, match="PENSTOCK_QDRANT_URL"):
                await tenant.stage(document_id, ["alpha"])
    finally:
        await index.close()
        await tenants.close()


async def test_without_the_qdrant_client_the_error_names_the_remedy(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    tenants = await TenantPool.open(database.runtime_url, application_name="qdrant", size=1)
    try:
        with pytest.raises(SettingInvalid, match="PENSTOCK_QDRANT_URL"):
            open_index(Settings(index="qdrant"), tenants)
        monkeypatch.delitem(sys.modules, "penstock.index.qdrant")
        monkeypatch.setitem(sys.modules, "qdrant_client", None)
        with pytest.raises(SettingInvalid, match=r"penstock\[qdrant\]"):
            open_index(Settings(index="qdrant", qdrant_url=":memory:"), tenants)
    finally:
        await tenants.close()
