"""Saved views and records of clients that people write."""

from __future__ import annotations

from pathlib import Path

from tests.integration.api_server import api_server, assert_problem
from tests.plugins.database import Database


async def test_a_view_is_shared_by_the_team_and_by_nobody_else(database: Database, tmp_path: Path) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client:
        wanted = {"page": "documents", "name": "Broken", "query": "status=failed&sort=updated"}
        made = await client.post("/v1/views", json=wanted)
        assert made.status_code == 201, made.text
        view = made.json()
        assert {key: view[key] for key in wanted} == wanted
        assert view["created_by"].startswith("key ")
        assert_problem(await client.post("/v1/views", json=wanted), 409, "name")
        assert_problem(await client.post("/v1/views", json={**wanted, "name": "  "}), 422, "name")
        colleague = await server.another_key("documents:read")
        async with server.client(colleague) as other:
            assert (await other.get("/v1/views", params={"page": "documents"})).json()["items"] == [view]
            assert (await other.get("/v1/views", params={"page": "tasks"})).json()["items"] == []
            assert_problem(await other.delete(f"/v1/views/{view['view_id']}"), 403, "scope")
        _, foreign = await server.another_tenant("other")
        async with server.client(foreign) as other:
            assert (await other.get("/v1/views")).json()["items"] == []
            assert_problem(await other.delete(f"/v1/views/{view['view_id']}"), 404, "view_id")
            change = await other.patch(f"/v1/views/{view['view_id']}", json={"name": "Mine"})
            assert_problem(change, 404, "view_id")
            assert (await other.post("/v1/views", json=wanted)).status_code == 201
        changed = await client.patch(f"/v1/views/{view['view_id']}", json={"name": "Failed"})
        assert (changed.json()["name"], changed.json()["query"]) == ("Failed", wanted["query"])
        assert (await client.delete(f"/v1/views/{view['view_id']}")).status_code == 204
        assert (await client.get("/v1/views")).json()["items"] == []


async def test_a_person_writes_changes_and_deletes_a_record_of_a_client(
    database: Database, tmp_path: Path
) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client:
        wanted = {"name": "Cedar Mill Ltd", "industry": "milling", "key_facts": {"employees": 12}}
        made = await client.post("/v1/clients", json=wanted)
        assert made.status_code == 201, made.text
        path = f"/v1/clients/{made.json()['client_id']}"
        assert made.json()["records"][0]["source"] == "manual"
        changed = await client.patch(path, json={"industry": None, "key_facts": {"employees": 13}})
        assert (changed.json()["name"], changed.json()["industry"]) == ("Cedar Mill Ltd", None)
        assert [fact["value"] for fact in changed.json()["facts"]] == [13]
        assert_problem(await client.patch(path, json={"name": None}), 422, "name")
        assert_problem(await client.post("/v1/clients", json={"name": " "}), 422, "name")
        _, foreign = await server.another_tenant("other")
        async with server.client(foreign) as other:
            assert (await other.patch(path, json={"name": "Ours"})).status_code in (404, 409)
            assert (await other.delete(path)).status_code in (404, 409)
        assert (await client.delete(path)).status_code == 204
        assert (await client.get("/v1/clients")).json()["items"] == []
