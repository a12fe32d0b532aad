"""Projects over HTTP: deleted with their documents, refused without an embedder; ingestions; rates."""

from __future__ import annotations

import os
from pathlib import Path
from uuid import uuid4

import pytest

from penstock.client import Client
from penstock.errors import InvalidArgument
from tests.integration.api_server import TEXT, api_server, assert_problem, form
from tests.plugins.database import Database
from tests.plugins.workers import eventually

pytestmark = pytest.mark.timeout(180)

UPLOAD = "/v1/documents/upload"
MISSING = [
    ("cohere:embed-v4.0", "PENSTOCK_COHERE_API_KEY"),
    ("voyage", "PENSTOCK_VOYAGE_API_KEY"),
    ("openai:text-embedding-3-small", "PENSTOCK_OPENAI_API_KEY"),
    ("brain", "PENSTOCK_BRAIN_URL"),
    ("minilm", "penstock model install minilm"),
    ("nonsense", "wordllama"),
]


async def test_a_project_is_deleted_with_its_documents_and_its_slug_is_free_again(
    database: Database, tmp_path: Path
) -> None:
    async with (
        api_server(database, tmp_path) as server,
        server.client() as http,
        Client(server.url, server.key) as client,
        server.working(),
    ):
        await client.create_project("sales")
        kept = await client.upload(TEXT.encode(), project="default", wait=60)
        gone = [await client.upload(f"{TEXT} {n}".encode(), project="sales", wait=60) for n in range(3)]
        problem = assert_problem(await http.delete("/v1/projects/sales"), 422, "confirm")
        assert "3 documents" in problem["detail"]
        assert_problem(await http.delete("/v1/projects/sales?confirm=default"), 422, "confirm")

        deleted = await client.delete_project("sales", confirm="sales")
        assert (deleted.slug, deleted.documents, deleted.left) == ("sales", 3, 0)
        found = await client.search("mill")
        assert {hit.document_id for hit in found.hits} == {kept.document_id}
        assert [project.slug for project in await client.projects()] == ["default"]
        for path in ("/v1/projects/sales", f"/v1/documents/{gone[0].document_id}"):
            assert (await http.get(path)).status_code == 404
        assert_problem(await http.post(UPLOAD, files=form(), data={"project": "sales"}), 404, "project")
        await eventually(lambda: _is(server.blob_count, 1), within=60, what="its blobs are removed")

        again = await client.create_project("sales")
        assert again.project_id != deleted.project_id
        assert again.documents == {}


async def _is(count: object, wanted: int) -> bool:
    assert callable(count)
    return bool(count() == wanted)


async def test_the_default_project_and_one_a_source_delivers_into_are_not_deleted(
    database: Database, tmp_path: Path
) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client:
        assert_problem(await client.delete("/v1/projects/default?confirm=default"), 409, "project")
        await client.post("/v1/projects", json={"slug": "inbox"})
        source = (await client.post("/v1/sources/webhook", json={"project": "inbox"})).json()
        assert_problem(await client.delete("/v1/projects/inbox?confirm=inbox"), 409, "project")
        await client.delete(f"/v1/sources/{source['source_id']}")
        assert (await client.delete("/v1/projects/inbox?confirm=inbox")).status_code == 202
        reader = await server.another_key("documents:read", "documents:write")
        async with server.client(reader) as without_scope:
            assert_problem(await without_scope.delete("/v1/projects/x?confirm=x"), 403, "scope")
        assert_problem(await client.delete("/v1/projects/nowhere?confirm=nowhere"), 404, "project")


async def test_the_remaining_documents_of_a_large_project_are_deleted_by_its_task(
    database: Database, tmp_path: Path
) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client:
        await client.post("/v1/projects", json={"slug": "large"})
        for n in range(7):
            await client.post(UPLOAD, files=form(f"{TEXT} {n}"), data={"project": "large"})
        async with server.engine.tenants.transaction(server.tenant.tenant_id) as conn:
            answer = str(await conn.fetchval("select accounts.delete_project('large', 2)"))
        assert '"left": 5' in answer
        async with server.working():
            live = "select count(*) = 0 from ingest.document where deleted_at is null"

            async def all_gone() -> bool:
                async with database.connect("admin") as admin:
                    return bool(await admin.fetchval(live))

            await eventually(all_gone, within=60, what="the task deletes the rest")


async def test_an_embedder_that_is_not_configured_is_refused_with_what_to_set(
    database: Database, tmp_path: Path
) -> None:
    assert not any(name.endswith("_API_KEY") and name.startswith("PENSTOCK_") for name in os.environ)
    async with (
        api_server(database, tmp_path, models_dir=tmp_path / "none") as server,
        server.client() as client,
    ):
        for number, (name, remedy) in enumerate(MISSING):
            answer = await client.post("/v1/projects", json={"slug": f"p{number}", "embedder": name})
            problem = assert_problem(answer, 422, "embedder")
            assert remedy in problem["remedy"], problem
            assert name in problem["detail"]
            switch = await client.post("/v1/projects/default/reindex", json={"embedder": name})
            assert remedy in assert_problem(switch, 422, "embedder")["remedy"]
            with pytest.raises(InvalidArgument):
                await server.engine.accounts.create_project(server.tenant.tenant_id, "p", embedder=name)
            with pytest.raises(InvalidArgument):
                await server.engine.documents.reindex_project(
                    server.tenant.tenant_id, "default", embedder=name
                )
        listed = (await client.get("/v1/projects")).json()["items"]
        assert [(project["slug"], project["next_embedder"]) for project in listed] == [("default", None)]


async def test_an_ingestion_is_shown_by_its_id_to_its_tenant(database: Database, tmp_path: Path) -> None:
    async with api_server(database, tmp_path) as server, Client(server.url, server.key) as client:
        sent = await client.upload(TEXT.encode())
        shown = await client.ingestion(sent.ingestion_id)
        assert (shown.ingestion_id, shown.document_id, shown.status) == (
            sent.ingestion_id, sent.document_id, "queued",
        )  # fmt: skip
        assert shown.created
        async with server.working():
            await client.wait(sent.document_id, 60)
        done = await client.ingestion(sent.ingestion_id)
        assert done.status == "indexed"
        assert done.finished_at is not None
        _, key = await server.another_tenant("other")
        async with server.client(key) as stranger:
            path = f"/v1/ingestions/{sent.ingestion_id}"
            assert_problem(await stranger.get(path), 404, "ingestion_id")
        async with server.client() as http:
            assert_problem(await http.get(f"/v1/ingestions/{uuid4()}"), 404, "ingestion_id")
            assert_problem(await http.get("/v1/ingestions/x"), 422, "ingestion_id")


async def test_a_raised_or_removed_rate_limit_applies_to_the_next_request(
    database: Database, tmp_path: Path
) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client:
        tenant_id = server.tenant.tenant_id
        for limit in (100, None):
            await server.engine.accounts.set_tenant(tenant_id, requests_per_minute=1)
            while (await client.get("/v1/projects")).status_code == 200:
                pass
            assert_problem(await client.get("/v1/projects"), 429)
            await server.engine.accounts.set_tenant(tenant_id, requests_per_minute=limit)
            answer = await client.get("/v1/projects")
            assert answer.status_code == 200
            assert int(answer.headers["ratelimit-limit"]) == (limit or 6_000)
