"""Signing in to the console: who may, for how long, and what each role may do."""

from __future__ import annotations

from pathlib import Path

from tests.integration.api_server import api_server, assert_problem
from tests.integration.console_client import browser, make_link, signed_in
from tests.plugins.database import Database


async def test_a_link_signs_in_once(database: Database, tmp_path: Path) -> None:
    async with api_server(database, tmp_path) as server, browser(server) as first, browser(server) as second:
        link = await make_link(server)
        shown = await first.get(link)
        assert shown.status_code == 200
        assert "<button>Sign in</button>" in shown.text
        assert (await first.post(link)).status_code == 303
        assert (await second.post(link)).status_code == 401
        session = (await first.get("/v1/session")).json()
        assert (session["name"], session["role"], session["is_installation"]) == ("ada", "admin", True)
        assert session["tenants"] == [{"slug": "acme", "name": "acme"}]
        assert_problem(await second.get("/v1/session"), 401, "Authorization")


async def test_the_installation_sees_all_tenants_and_acts_in_the_one_it_names(
    database: Database, tmp_path: Path
) -> None:
    async with api_server(database, tmp_path) as server, signed_in(server) as client:
        await server.another_tenant("globex")
        slugs = [row["slug"] for row in (await client.get("/v1/tenants")).json()["items"]]
        assert slugs == ["acme", "globex"]
        assert_problem(await client.get("/v1/documents"), 422, "X-Penstock-Tenant")
        named = await client.get("/v1/projects", headers={"X-Penstock-Tenant": "globex"})
        assert [row["slug"] for row in named.json()["items"]] == ["default"]
        made = await client.post("/v1/projects", json={"slug": "x"}, headers={"X-Penstock-Tenant": "globex"})
        assert made.status_code == 201
        rows = (await client.get("/v1/audit")).json()["items"]
        assert [(row["action"], row["tenant"], row["status"], row["who"]) for row in rows] == [
            ("POST /v1/projects", "globex", 201, "ada")
        ]


async def test_a_tenants_key_never_reaches_the_installation(database: Database, tmp_path: Path) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client:
        assert_problem(await client.get("/v1/tenants"), 403, "role")
        assert_problem(await client.post("/v1/tenants", json={"slug": "mine"}), 403, "role")
        assert_problem(await client.get("/v1/audit", params={"tenant": "globex"}), 422, "X-Penstock-Tenant")
        assert (await client.get("/v1/session")).json()["tenants"] == []
