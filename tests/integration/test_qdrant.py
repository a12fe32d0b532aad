"""The index in Qdrant: over HTTP, with a simulated server or a real one, and in the client's local mode."""

from __future__ import annotations

import re
import sys
from datetime import UTC, datetime

import pytest

from penstock.db.tenancy import TenantPool
from penstock.errors import IndexUnavailable, SettingInvalid
from penstock.index import open_index
from penstock.settings import Settings
from tests.integration.qdrant_tenants import names, payloads, qdrant_index, qdrant_tenant
from tests.plugins.database import Database
from tests.sql.indexed_tenant import indexed_tenant


@pytest.fixture(params=["server", "local"])
def place(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def test_all_tenants_share_one_collection_per_model(database: Database, place: str) -> None:
    async with (
        qdrant_tenant(database, place) as tenant,
        indexed_tenant(database, "other", index=tenant.index) as other,
    ):
        document_id = await tenant.put(*[f"alpha chunk{place}" for place in range(250)])
        await other.put("alpha of the other")
        assert [name for name in await names(tenant) if "words-64" in name] == ["penstock_words-64_428eb1b7"]
        stored = await payloads(tenant)
        assert sorted(point["chunkIndex"] for point in stored) == list(range(250))
        assert {point["documentId"] for point in stored} == {str(document_id)}
        assert {(point["tenantId"], point["generation"], point["isDeleted"]) for point in stored} == {
            (str(tenant.tenant_id), 1, False)
        }
        assert {point["projectId"] for point in stored} == {str(tenant.project_id)}
        assert await tenant.count("chunk") == 251
        assert await tenant.count("chunk_vector") == 0


async def test_search_by_vector_words_and_both_finds_what_lies_there(database: Database, place: str) -> None:
    async with qdrant_tenant(database, place) as tenant:
        for number in range(20):
            await tenant.put(f"turbine of mill{number}")
        wanted = await tenant.put("the sluice and its gate", title="Sluice")
        for mode in ("hybrid", "vector", "text"):
            hit = (await tenant.find("sluice gates", mode=mode))[0]
            assert (hit.document_id, hit.title) == (wanted, "Sluice")
            assert (hit.vector_rank is None) == (mode == "text")
            assert (hit.text_rank is None) == (mode == "vector")
        assert len(await tenant.find("turbine", limit=100, mode="text")) == 20


async def test_the_same_batch_twice_is_stored_once(database: Database, place: str) -> None:
    async with qdrant_tenant(database, place) as tenant:
        document_id = await tenant.document()
        await tenant.stage(document_id, ["alpha", "beta"])
        await tenant.stage(document_id, ["alpha", "beta"])
        assert len(await payloads(tenant)) == 2


async def test_a_dead_generation_is_dropped_marked_and_removed_a_day_later(
    database: Database, place: str
) -> None:
    async with qdrant_tenant(database, place) as tenant:
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


async def test_a_deleted_document_is_out_of_search_at_once_and_then_out_of_qdrant(
    database: Database, place: str
) -> None:
    async with qdrant_tenant(database, place) as tenant:
        document_id = await tenant.put("alpha gone")
        await tenant.delete(document_id)
        assert await tenant.find("alpha") == ()
        await tenant.index.drop_document(tenant.tenant_id, document_id)
        assert await payloads(tenant) == []
        assert await tenant.count("chunk") == await tenant.count("posting") == 0


async def test_a_generation_taken_back_leaves_nothing(database: Database, place: str) -> None:
    async with qdrant_tenant(database, place) as tenant:
        document_id = await tenant.put("alpha live")
        await tenant.stage(document_id, ["alpha staged"], 2)
        await tenant.index.drop(tenant.tenant_id, document_id, [2])
        assert [point["generation"] for point in await payloads(tenant)] == [1]


async def test_a_filter_returns_all_rows_that_exist(database: Database, place: str) -> None:
    async with qdrant_tenant(database, place) as tenant:
        for number in range(150):
            await tenant.put(f"alpha beta{number % 7}")
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


async def test_a_search_does_not_find_chunks_of_another_tenant(database: Database, place: str) -> None:
    async with (
        qdrant_tenant(database, place) as tenant,
        indexed_tenant(database, "other", index=tenant.index) as other,
    ):
        await other.put("alpha of the other")
        assert await tenant.find("alpha") == ()


async def test_a_server_that_does_not_answer_is_reported(database: Database) -> None:
    async with (
        qdrant_index(database, "http://127.0.0.1:1") as index,
        indexed_tenant(database, index=index) as tenant,
    ):
        document_id = await tenant.document()
        with pytest.raises(IndexUnavailable, match="PENSTOCK_QDRANT_URL"):
            await tenant.stage(document_id, ["alpha"])


async def test_without_the_qdrant_client_the_error_names_the_remedy(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    tenants = await TenantPool.open(database.runtime_url, application_name="qdrant", size=1)
    try:
        with pytest.raises(SettingInvalid, match="PENSTOCK_QDRANT_URL"):
            open_index(Settings(index="qdrant"), tenants)
        for name in [
            name for name in sys.modules if re.match(r"penstock\.index\.(qdrant|tenant_points)", name)
        ]:
            monkeypatch.delitem(sys.modules, name)
        monkeypatch.setitem(sys.modules, "qdrant_client", None)
        with pytest.raises(SettingInvalid, match=r"penstock\[qdrant\]"):
            open_index(Settings(index="qdrant", qdrant_url=":memory:"), tenants)
    finally:
        await tenants.close()
