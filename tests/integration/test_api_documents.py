"""Documents and projects over HTTP, from upload to search to deletion, with a real worker."""

from __future__ import annotations

from pathlib import Path

from tests.integration.api_server import TEXT, api_server, assert_problem, form
from tests.plugins.database import Database

UPLOAD = "/v1/documents/upload"


async def test_a_document_goes_from_upload_to_search_and_out_again(
    database: Database, tmp_path: Path
) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client, server.working():
        taken = await client.post(UPLOAD, params={"wait": 30}, files=form())
        assert taken.status_code == 200, taken.text
        document = taken.json()["document"]
        path = f"/v1/documents/{document['document_id']}"
        assert document["searchable"] is True

        chunks = (await client.get(f"{path}/chunks")).json()["items"]
        assert "penstock lets water" in chunks[0]["text"]
        events = [event["event"] for event in (await client.get(f"{path}/events")).json()["items"]]
        assert events[0] == "taken_in"
        explained = (await client.get(f"{path}/explain")).json()
        assert explained["status"] == "indexed"
        ingestions = (await client.get(f"{path}/ingestions")).json()["items"]
        assert ingestions[0]["ingestion_id"] == taken.json()["ingestion_id"]

        found = await client.post("/v1/search", json={"query": "water for the mill"})
        assert found.status_code == 200, found.text
        assert document["document_id"] in found.text
        assert document["document_id"] in (await client.get("/v1/search", params={"q": "mill"})).text

        assert (await client.delete(path)).status_code == 204
        found = await client.post("/v1/search", json={"query": "water for the mill"})
        assert document["document_id"] not in found.text
        assert_problem(await client.get(path), 404, "document_id")
        assert_problem(await client.get(f"{path}/content"), 404, "document_id")
        events = [event["event"] for event in (await client.get(f"{path}/events")).json()["items"]]
        assert "deleted" in events
        again = await client.post(UPLOAD, files=form())
        assert again.json()["created"] is True
        assert again.json()["document_id"] != document["document_id"]


async def test_a_failed_document_says_why_and_can_be_tried_again(database: Database, tmp_path: Path) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client, server.working():
        taken = await client.post(UPLOAD, params={"wait": 30}, files=form(b"\0\1\2\3" * 50, "a.bin"))
        document = taken.json()["document"]
        assert (document["status"], bool(document["reason_code"])) == ("failed", True)
        path = f"/v1/documents/{document['document_id']}"
        retried = await client.post(f"{path}/retry")
        assert retried.status_code == 202, retried.text
        settled = (await client.get(path, params={"wait": 30})).json()
        assert settled["status"] == "failed"
        fine = await client.post(UPLOAD, params={"wait": 30}, files=form())
        path = f"/v1/documents/{fine.json()['document_id']}"
        problem = assert_problem(await client.post(f"{path}/retry"), 409, "status")
        assert problem["type"] == "/docs#problem-invalid-move"
        assert (await client.post(f"{path}/reindex")).status_code == 202
        assert (await client.get(path, params={"wait": 30})).json()["status"] == "indexed"


async def test_pages_cover_everything_once(database: Database, tmp_path: Path) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client:
        await client.post("/v1/projects", json={"slug": "sales"})
        made = [
            (
                await client.post(
                    UPLOAD, files=form(f"text {n}", f"{n}.txt"), data={"project": "sales"} if n % 2 else {}
                )
            ).json()["document_id"]
            for n in range(7)
        ]
        seen: list[str] = []
        cursor = None
        while True:
            asked = {"limit": 3} if cursor is None else {"limit": 3, "cursor": cursor}
            page = (await client.get("/v1/documents", params=asked)).json()
            seen += [document["document_id"] for document in page["items"]]
            cursor = page["cursor"]
            if cursor is None:
                break
        assert seen == made[::-1]
        of_project = (await client.get("/v1/documents", params={"project": "sales"})).json()["items"]
        assert [document["document_id"] for document in of_project] == made[1::2][::-1]
        titled = (await client.get("/v1/documents", params={"title": "3.TXT"})).json()["items"]
        assert [document["document_id"] for document in titled] == [made[3]]
        assert (await client.get("/v1/documents", params={"status": "failed"})).json()["items"] == []


async def test_projects_are_made_changed_and_indexed_again(database: Database, tmp_path: Path) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client, server.working():
        made = await client.post("/v1/projects", json={"slug": "sales", "text_config": "german"})
        assert made.status_code == 201, made.text
        assert_problem(await client.post("/v1/projects", json={"slug": "sales"}), 409, "slug")
        changed = await client.patch("/v1/projects/sales", json={"name": "Sales", "chunk_tokens": 64})
        assert (changed.json()["name"], changed.json()["chunk_tokens"]) == ("Sales", 64)
        assert changed.json()["text_config"] == "german"
        taken = await client.post(UPLOAD, params={"wait": 30}, files=form(), data={"project": "sales"})
        assert taken.json()["document"]["status"] == "indexed", taken.text
        shown = (await client.get("/v1/projects/sales")).json()
        assert shown["documents"] == {"indexed": 1}

        estimate = await client.post("/v1/projects/sales/reindex", json={"estimate": True})
        assert estimate.status_code == 200, estimate.text
        counted = estimate.json()
        assert (counted["documents"], counted["chunks"] > 0) == (1, True)
        assert counted["cached_chunks"] == counted["chunks"]
        assert (await client.post("/v1/projects/sales/reindex")).status_code == 202
        assert (await client.post("/v1/projects/sales/reindex", json={})).status_code == 202
        unknown = await client.post("/v1/projects/sales/reindex", json={"embedder": "nonsense"})
        assert_problem(unknown, 422, "embedder")
        assert_problem(await client.post("/v1/projects/nowhere/reindex"), 404, "project")


async def test_usage_is_reported_by_model(database: Database, tmp_path: Path) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client, server.working():
        await client.post(UPLOAD, params={"wait": 30}, files=form(TEXT))
        items = (await client.get("/v1/usage")).json()["items"]
        assert items
        assert items[0]["tokens"] > 0
        assert (await client.get("/v1/usage", params={"month": "2020-01"})).json()["items"] == []
        assert_problem(await client.get("/v1/usage", params={"month": "2020-13"}), 422, "month")
        assert_problem(await client.get("/v1/usage", params={"month": "0000-01"}), 422, "month")


async def test_documents_are_counted_by_status_under_a_filter(database: Database, tmp_path: Path) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client, server.working():
        for name, content in (("mill.txt", TEXT), ("gate.txt", "The gate."), ("empty.txt", "  ")):
            await client.post("/v1/documents/upload?wait=30", files=form(content, name))
        counted = (await client.get("/v1/documents/counts")).json()["items"]
        assert [each["status"] for each in counted] == [
            "pending", "processing", "embedding", "indexed", "skipped", "failed",
        ]  # fmt: skip
        assert [each["total"] for each in counted] == [0, 0, 0, 2, 0, 1]
        assert not any(each["approximate"] for each in counted)
        named = (await client.get("/v1/documents/counts", params={"q": "gate"})).json()["items"]
        assert [each["total"] for each in named] == [0, 0, 0, 1, 0, 0]
        assert_problem(await client.get("/v1/documents/counts", params={"project": "none"}), 404, "project")
