"""Operations over HTTP and by real workers: each item once, whatever happens to the worker."""

from __future__ import annotations

import asyncio
import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from penstock.model import uuid7
from tests.integration.api_server import ApiServer, api_server, assert_problem, form
from tests.integration.console_client import signed_in
from tests.plugins.database import Database
from tests.plugins.workers import Crew, ended, eventually, working

if TYPE_CHECKING:
    import httpx2

TAKE_IN = """
  select ingest.take_in(
    _document_id => $1, _ingestion_id => $2, _file_id => $3, _content_sha256 => $4, _size_bytes => 1,
    _mime_type => 'text/plain', _extension => 'txt', _code_version => 'v', _uploaded_by => 'test',
    _project => 'default')
"""
FAIL = "update ingest.document set status = 'failed', reason_code = 'crash', error_message = 'it broke'"
SLOW = """
  create function public.slowly() returns trigger language plpgsql as
  $$ begin perform pg_sleep(0.02); return new; end $$;
  create trigger slowly before insert on ingest.document_event
  for each row when (new.event = 'reindex') execute function public.slowly();
"""
RETRIES = """
  select array[count(*), count(distinct document_id)] from ingest.document_event where event = 'reindex'
"""


async def many_failed(server: ApiServer, count: int) -> None:
    """Failed documents without files: what an operation does to them is all that matters here."""
    async with server.engine.tenants.transaction(server.tenant.tenant_id) as conn:
        for n in range(count):
            await conn.execute(TAKE_IN, uuid7(), uuid7(), uuid7(), hashlib.sha256(b"%d" % n).digest())
    async with server.database.connect("admin") as admin:
        await admin.execute(FAIL)
        # Their own runs would take them out of `failed` while an operation looks for them.
        await admin.execute("delete from queues.waiting")
        await admin.execute("delete from queues.ready")


async def over(client: httpx2.AsyncClient, operation_id: str, within: float = 60) -> dict[str, Any]:
    async def ended_now() -> bool:
        shown = (await client.get(f"/v1/operations/{operation_id}")).json()
        return shown["finished_at"] is not None

    await eventually(ended_now, within=within, every=0.1, what="the operation ended")
    found: dict[str, Any] = (await client.get(f"/v1/operations/{operation_id}")).json()
    return found


async def test_an_operation_acts_on_all_that_match_after_naming_the_number(
    database: Database, tmp_path: Path
) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client:
        await many_failed(server, 12)
        _, foreign = await server.another_tenant("other")
        wanted = {"action": "documents.delete", "filter": {"status": "failed"}}
        counted = await client.post("/v1/operations/preview", json=wanted)
        assert counted.json() == {"count": 12, "approximate": False, "skipped": []}
        assert_problem(await client.post("/v1/operations", json=wanted), 422, "expected_count")
        refused = await client.post("/v1/operations", json={**wanted, "expected_count": 5})
        assert "12 items match now" in assert_problem(refused, 409, "expected_count")["detail"]
        mistyped = {"action": "documents.delete", "filter": {"satus": "failed"}}
        assert_problem(await client.post("/v1/operations/preview", json=mistyped), 422, "filter.satus")

        begun = await client.post("/v1/operations", json={**wanted, "expected_count": 12})
        assert begun.status_code == 202, begun.text
        operation_id = begun.json()["operation_id"]
        async with server.client(foreign) as other:
            assert_problem(await other.get(f"/v1/operations/{operation_id}"), 404, "operation_id")
            assert_problem(await other.post(f"/v1/operations/{operation_id}/cancel"), 404, "operation_id")
            assert (await other.get("/v1/operations")).json()["items"] == []
        async with working(server.engine.tasks, {"operate": 1}):
            shown = await over(client, operation_id)
        assert (shown["state"], shown["total"], shown["done"]) == ("done", 12, 12)
        assert (await client.get("/v1/documents", params={"count": 1})).json()["total"] == 0
        items = (await client.get(f"/v1/operations/{operation_id}/items")).json()["items"]
        assert len(items) == 12
        assert {item["outcome"] for item in items} == {"done"}
        listed = (await client.get("/v1/operations", params={"state": "done"})).json()["items"]
        assert [each["operation_id"] for each in listed] == [operation_id]


async def test_a_viewer_may_count_but_not_act(database: Database, tmp_path: Path) -> None:
    async with api_server(database, tmp_path) as server:
        await many_failed(server, 1)
        key = await server.another_key("documents:read")
        wanted = {"action": "documents.retry", "filter": {}}
        async with server.client(key) as viewer:
            assert (await viewer.post("/v1/operations/preview", json=wanted)).status_code == 200
            refused = await viewer.post("/v1/operations", json={**wanted, "expected_count": 1})
            assert_problem(refused, 403, "scope")


@pytest.mark.timeout(120)
async def test_killed_workers_leave_each_item_treated_exactly_once(
    database: Database, tmp_path: Path, crew: Crew
) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client:
        await many_failed(server, 200)
        async with database.connect("admin") as admin:
            await admin.execute(SLOW)
            wanted = {"action": "documents.reindex", "filter": {"reason": "crash"}, "expected_count": 200}
            operation_id = (await client.post("/v1/operations", json=wanted)).json()["operation_id"]
            for mark in (50, 100):
                victim = crew.spawn(
                    "penstock", "worker", "--queue", "operate", data_dir=tmp_path / "data", lease_seconds=2
                )

                async def reached(mark: int = mark) -> bool:
                    at = await admin.fetchval("select next_ordinal from ingest.operation")
                    return bool(at >= mark)

                await eventually(reached, within=60)
                victim.kill()
                await ended(victim)
            crew.spawn(
                "penstock", "worker", "--queue", "operate", data_dir=tmp_path / "data", lease_seconds=2
            )
            shown = await over(client, operation_id)
            assert (shown["state"], shown["done"], shown["skipped"]) == ("done", 200, 0)
            assert await admin.fetchval(RETRIES) == [200, 200]
            lost = await admin.fetchval("select count(*) from queues.attempt where outcome = 'lost'")
            assert lost == 2
        await asyncio.to_thread(crew.dismiss)


async def test_a_canary_of_real_documents_stops_when_they_fail_again(
    database: Database, tmp_path: Path
) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client:
        await many_failed(server, 10)
        wanted = {"action": "documents.retry", "filter": {"status": "failed"}, "expected_count": 10}
        begun = await client.post("/v1/operations", json={**wanted, "canary_percent": 10})
        async with server.working():
            shown = await over(client, begun.json()["operation_id"])
        assert shown["state"] == "stopped", shown
        assert "the other 9 were not touched" in shown["error"]
        assert (shown["canary"]["size"], shown["canary"]["failed"]) == (1, 1)


async def test_a_cancelled_operation_says_by_whom(database: Database, tmp_path: Path) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client:
        await client.post("/v1/documents/upload", files=form())
        wanted = {"action": "tasks.cancel", "filter": {"state": "ready,waiting"}, "expected_count": 1}
        begun = await client.post("/v1/operations", json=wanted)
        assert begun.status_code == 202, begun.text
        path = f"/v1/operations/{begun.json()['operation_id']}"
        stopped = (await client.post(f"{path}/cancel")).json()
        assert stopped["state"] == "stopped"
        assert stopped["error"].startswith("cancelled by key ")
        assert (await client.post(f"{path}/cancel")).json()["finished_at"] == stopped["finished_at"]


async def test_an_operator_of_the_installation_acts_on_all_tenants_and_leaves_an_audit_row(
    database: Database, tmp_path: Path
) -> None:
    async with api_server(database, tmp_path) as server, signed_in(server) as root:
        _, key = await server.another_tenant("other")
        for each in (server.key, key):
            async with server.client(each) as tenant:
                await tenant.post("/v1/documents/upload", files=form())
        wanted = {"action": "tasks.cancel", "filter": {"task_type": "ingest-document"}}
        assert (await root.post("/v1/operations/preview", json=wanted)).json()["count"] == 2
        one = {"action": "tasks.cancel", "filter": {"task_type": "ingest-document", "tenant": "other"}}
        assert (await root.post("/v1/operations/preview", json=one)).json()["count"] == 1
        documents = {"action": "documents.delete", "filter": {}}
        assert_problem(await root.post("/v1/operations/preview", json=documents), 422, "action")
        begun = await root.post("/v1/operations", json={**wanted, "expected_count": 2})
        assert begun.status_code == 202, begun.text
        async with server.client() as client:
            assert (await client.get("/v1/operations")).json()["items"] == [], "it is the operators'"
        async with working(server.engine.tasks, {"operate": 1}):
            shown = await over(root, begun.json()["operation_id"])
        assert (shown["state"], shown["done"], shown["by"], shown["tenant"]) == ("done", 2, "ada", None)
        rows = (await root.get("/v1/audit")).json()["items"]
        assert "POST /v1/operations" in {row["action"] for row in rows}
        view = {"page": "tasks", "name": "Mine", "query": "state=ready"}
        assert (await root.post("/v1/views", json=view)).status_code == 201
        assert [each["name"] for each in (await root.get("/v1/views")).json()["items"]] == ["Mine"]
        async with server.client() as client:
            assert (await client.get("/v1/views")).json()["items"] == []
