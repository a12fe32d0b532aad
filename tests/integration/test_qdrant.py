"""The index in Qdrant: by its client's local mode, and by a server where PENSTOCK_QDRANT_URL names one."""

from __future__ import annotations

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
from penstock.index.qdrant import QdrantIndex
from penstock.index.qdrant_points import tenant_prefix
from penstock.settings import Settings
from tests.plugins.database import Database
from tests.sql.shelf import Shelf, shelf_of

if TYPE_CHECKING:
    from qdrant_client import AsyncQdrantClient

ADDRESS = os.environ.get("PENSTOCK_QDRANT_URL") or ":memory:"


@asynccontextmanager
async def qdrant_shelf(
    database: Database, slug: str = "acme", address: str = ADDRESS
) -> AsyncIterator[Shelf]:
    tenants = await TenantPool.open(database.runtime_url, application_name="qdrant", size=4)
    index = QdrantIndex.open(address, None, tenants)
    try:
        async with shelf_of(database, slug, index=index) as shelf:
            yield shelf
            for collection in await collections(shelf):
                await client(shelf).delete_collection(collection)
    finally:
        await index.close()
        await tenants.close()


def client(shelf: Shelf) -> AsyncQdrantClient:
    assert isinstance(shelf.index, QdrantIndex)
    return shelf.index._client  # what lies in it, past the index


async def collections(shelf: Shelf) -> list[str]:
    answer = await client(shelf).get_collections()
    return [
        found.name for found in answer.collections if found.name.startswith(tenant_prefix(shelf.tenant_id))
    ]


async def payloads(shelf: Shelf) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for collection in await collections(shelf):
        points, _ = await client(shelf).scroll(collection, limit=10_000, with_payload=True)
        found += [point.payload or {} for point in points]
    return found


async def test_chunks_lie_in_a_collection_of_their_tenant_and_project(database: Database) -> None:
    async with qdrant_shelf(database) as shelf:
        document_id = await shelf.put(*[f"alpha chunk{place}" for place in range(250)])
        (name,) = await collections(shelf)
        assert name.startswith(f"penstock_{shelf.tenant_id.hex}_{shelf.project_id.hex}_")
        stored = await payloads(shelf)
        assert sorted(point["chunkIndex"] for point in stored) == list(range(250))
        assert {point["documentId"] for point in stored} == {str(document_id)}
        assert {(point["tenantId"], point["generation"], point["isDeleted"]) for point in stored} == {
            (str(shelf.tenant_id), 1, False)
        }
        assert await shelf.count("chunk") == 250
        assert await shelf.count("chunk_vector") == 0


async def test_search_by_vector_words_and_both_finds_what_lies_there(database: Database) -> None:
    async with qdrant_shelf(database) as shelf:
        for place in range(20):
            await shelf.put(f"turbine of mill{place}")
        wanted = await shelf.put("the sluice and its gate", title="Sluice")
        for mode in ("hybrid", "vector", "text"):
            hit = (await shelf.find("sluice gates", mode=mode))[0]
            assert (hit.document_id, hit.title) == (wanted, "Sluice")
            assert (hit.vector_rank is None) == (mode == "text")
            assert (hit.text_rank is None) == (mode == "vector")
        assert len(await shelf.find("turbine", limit=100, mode="text")) == 20


async def test_the_same_batch_twice_is_stored_once(database: Database) -> None:
    async with qdrant_shelf(database) as shelf:
        document_id = await shelf.document()
        await shelf.stage(document_id, ["alpha", "beta"])
        await shelf.stage(document_id, ["alpha", "beta"])
        assert len(await payloads(shelf)) == 2


async def test_a_dead_generation_is_dropped_marked_and_removed_a_day_later(database: Database) -> None:
    async with qdrant_shelf(database) as shelf:
        document_id = await shelf.put(*["alpha old"] * 150)
        await shelf.stage(document_id, ["alpha new"], 2)
        assert {hit.text for hit in await shelf.find("alpha", limit=100)} == {"alpha old"}
        await shelf.flip(document_id, 2)
        for mode in ("hybrid", "vector", "text"):
            assert [hit.text for hit in await shelf.find("alpha", mode=mode)] == ["alpha new"]
        await shelf.index.tend()
        marked = {(point["generation"], point["isDeleted"]) for point in await payloads(shelf)}
        assert marked == {(1, True), (2, False)}
        assert await shelf.count("chunk") == 151
        await shelf.admin.execute("update ingest.sweep set marked_at = marked_at - interval '25 hours'")
        await shelf.index.tend()
        assert {point["generation"] for point in await payloads(shelf)} == {2}
        assert await shelf.count("chunk") == 1
        assert await shelf.count("sweep") == 0


async def test_a_deleted_document_is_out_of_search_at_once_and_then_out_of_qdrant(database: Database) -> None:
    async with qdrant_shelf(database) as shelf:
        document_id = await shelf.put("alpha gone")
        await shelf.delete(document_id)
        assert await shelf.find("alpha") == ()
        await shelf.index.drop_document(shelf.tenant_id, document_id)
        assert await payloads(shelf) == []
        assert await shelf.count("chunk") == await shelf.count("posting") == 0


async def test_a_generation_taken_back_leaves_nothing(database: Database) -> None:
    async with qdrant_shelf(database) as shelf:
        document_id = await shelf.put("alpha live")
        await shelf.stage(document_id, ["alpha staged"], 2)
        await shelf.index.drop(shelf.tenant_id, document_id, [2])
        assert [point["generation"] for point in await payloads(shelf)] == [1]


async def test_a_filter_returns_all_rows_that_exist(database: Database) -> None:
    async with qdrant_shelf(database) as shelf:
        for place in range(150):
            await shelf.put(f"alpha beta{place % 7}")
        rare = [
            await shelf.put(
                f"alpha unlike {place} gamma delta epsilon",
                mime_type="application/pdf",
                created_at=datetime(2020, 1, 1 + place, tzinfo=UTC),
                metadata={"team": "red"},
            )
            for place in range(3)
        ]
        for mode in ("hybrid", "vector", "text"):
            for narrowed in ({"types": ["application/pdf"]}, {"metadata": {"team": "red"}}):
                found = await shelf.found("alpha", mode=mode, **narrowed)
                assert sorted(map(str, found)) == sorted(map(str, rare))
        assert await shelf.found("alpha", types=["image/png"]) == []


async def test_tenants_do_not_meet(database: Database) -> None:
    async with qdrant_shelf(database) as shelf, qdrant_shelf(database, "other") as other:
        await other.put("alpha of the other")
        assert await shelf.find("alpha") == ()


async def test_a_server_that_does_not_answer_is_said_so(database: Database) -> None:
    tenants = await TenantPool.open(database.runtime_url, application_name="qdrant", size=2)
    index = QdrantIndex.open("http://127.0.0.1:1", None, tenants)
    try:
        async with shelf_of(database, index=index) as shelf:
            document_id = await shelf.document()
            with pytest.raises(IndexUnavailable, match="PENSTOCK_QDRANT_URL"):
                await shelf.stage(document_id, ["alpha"])
    finally:
        await index.close()
        await tenants.close()


async def test_without_its_client_the_remedy_is_told(
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
