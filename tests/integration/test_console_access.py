"""Signing in to the console: who may, for how long, and what they then see."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import httpx2
import pytest

from penstock.api import create_app
from penstock.api.identity import COOKIE
from penstock.api.login_pages import safe_next
from penstock.engine.engine import Engine
from penstock.errors import SettingInvalid
from penstock.settings import Settings
from tests.integration.api_server import ApiServer, api_server, assert_problem
from tests.integration.console_client import browser, make_link, signed_in
from tests.plugins.database import Database


async def later(server: ApiServer, by: timedelta) -> None:
    """As if the sessions and links had been made so much earlier."""
    async with server.database.connect("admin") as admin:
        for table in ("accounts.session", "internal.operator_session"):
            await admin.execute(
                f"update {table} set created_at = created_at - $1::interval,"
                " seen_at = seen_at - $1::interval, expires_at = expires_at - $1::interval",
                by,
            )
        for table in ("accounts.login_link", "internal.operator_link"):
            await admin.execute(f"update {table} set expires_at = expires_at - $1::interval", by)


async def test_a_link_signs_in_once_and_for_ten_minutes_only(database: Database, tmp_path: Path) -> None:
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
        late = await make_link(server)
        await later(server, timedelta(minutes=11))
        assert (await second.post(late)).status_code == 401


async def test_the_cookie_is_out_of_reach_for_scripts_and_other_sites(
    database: Database, tmp_path: Path
) -> None:
    public = {"public_url": "https://penstock.example", "api_prefix": "/penstock"}
    async with api_server(database, tmp_path, **public) as server, browser(server) as client:
        answer = await client.post(f"/penstock{await make_link(server)}")
        name, *attributes = answer.headers["set-cookie"].split("; ")
        port = server.url.rpartition(":")[2]
        assert name.startswith(f"{COOKIE}_{port}="), "another installation on this host has another cookie"
        assert {part.lower() for part in attributes} >= {
            *("httponly", "samesite=strict", "secure", "path=/penstock"),
        }
        assert answer.headers["location"] == "/penstock/"


async def test_a_key_signs_in_to_its_tenant_with_its_scopes_until_it_is_revoked(
    database: Database, tmp_path: Path
) -> None:
    async with api_server(database, tmp_path) as server, browser(server) as client:
        wrong = await client.post("/login", data={"key": "pk_wrong"})
        assert wrong.status_code == 401
        assert "There is no such key." in wrong.text
        key = await server.another_key("documents:read")
        answer = await client.post("/login", data={"key": key, "next": "/documents?status=failed"})
        assert (answer.status_code, answer.headers["location"]) == (303, "/documents?status=failed")
        session = (await client.get("/v1/session")).json()
        assert (session["role"], session["scopes"]) == ("viewer", ["documents:read"])
        assert session["tenant"] == {"slug": "acme", "name": "acme"}
        assert_problem(await client.get("/v1/search", params={"q": "x"}), 403, "scope")
        async with server.client() as admin:
            other = {"X-Penstock-Tenant": "globex"}
            assert_problem(await client.get("/v1/documents", headers=other), 422, "X-Penstock-Tenant")
            (row,) = (await admin.get("/v1/audit")).json()["items"]
            assert (row["action"], row["who"], row["via"]) == ("POST /login", "other", "key")
            (mine,) = (await admin.get("/v1/sessions")).json()["items"]
            assert (mine["name"], mine["tenant"]) == ("other", "acme")
            await admin.delete(f"/v1/keys/{mine['key_id']}")
        assert_problem(await client.get("/v1/session"), 401, "Cookie")


async def test_wrong_keys_and_links_are_limited_like_wrong_secrets(
    database: Database, tmp_path: Path
) -> None:
    async with api_server(database, tmp_path) as server, browser(server) as client:
        answers = [await client.post("/login", data={"key": f"pk_{each}"}) for each in range(12)]
        assert {answer.status_code for answer in answers[:10]} == {401}
        assert_problem(answers[-1], 429)
        assert_problem(await client.post("/login/guess"), 429)


async def test_a_session_ends_when_it_is_idle_too_old_signed_out_or_ended_by_an_admin(
    database: Database, tmp_path: Path
) -> None:
    async with api_server(database, tmp_path) as server:
        async with signed_in(server, "viewer", "acme") as client:
            await later(server, timedelta(hours=11))
            until = (await client.get("/v1/session")).json()["expires_at"]
            assert (await client.get("/v1/session")).json()["expires_at"] > until  # used, so it lasts longer
            await later(server, timedelta(hours=13))
            assert_problem(await client.get("/v1/session"), 401, "Cookie")
        async with signed_in(server) as client:
            for _ in range(16):  # twelve hours and a bit short of it, for eight days
                await later(server, timedelta(hours=11, minutes=59))
                last = await client.get("/v1/session")
            assert_problem(last, 401, "Cookie")
        async with signed_in(server, "viewer", "acme") as client:
            assert (await client.post("/logout")).headers["location"] == "/login"
            assert not [cookie for cookie in client.cookies if cookie.startswith(COOKIE)]
        async with signed_in(server, "viewer", "acme") as client, signed_in(server) as admin:
            found = (await admin.get("/v1/sessions")).json()["items"]
            (theirs,) = [row["session_id"] for row in found if row["tenant"] == "acme"]
            assert (await admin.delete(f"/v1/sessions/{theirs}")).status_code == 204
            assert_problem(await client.get("/v1/session"), 401, "Cookie")


async def test_the_installation_sees_all_tenants_and_acts_in_the_one_it_names(
    database: Database, tmp_path: Path
) -> None:
    async with api_server(database, tmp_path) as server, signed_in(server) as client:
        await server.another_tenant("globex")
        slugs = [row["slug"] for row in (await client.get("/v1/tenants")).json()["items"]]
        assert slugs == ["acme", "globex"]
        assert_problem(await client.get("/v1/documents"), 422, "X-Penstock-Tenant")
        assert_problem(await client.get("/v1/documents", params={"tenant": "none"}), 404, "X-Penstock-Tenant")
        assert (await client.get("/v1/documents", params={"tenant": "globex"})).json()["items"] == []
        globex = {"X-Penstock-Tenant": "globex"}
        made = await client.post("/v1/projects", json={"slug": "x"}, headers=globex)
        assert made.status_code == 201
        changed = await client.patch("/v1/tenants/globex", json={"name": "Globex", "max_documents": 5})
        assert (changed.json()["name"], changed.json()["max_documents"]) == ("Globex", 5)
        twice = await client.post("/v1/tenants", json={"slug": "x"}, headers={"Idempotency-Key": "a"})
        assert_problem(twice, 422, "Idempotency-Key")
        assert (await client.post("/v1/tenants", json={"slug": "new"})).status_code == 201
        rows = (await client.get("/v1/audit")).json()["items"]
        assert [(row["action"], row["tenant"], row["status"], row["who"]) for row in rows] == [
            ("POST /v1/tenants", None, 201, "ada"),
            ("POST /v1/tenants", None, 422, "ada"),
            ("PATCH /v1/tenants/{slug}", None, 200, "ada"),
            ("POST /v1/projects", "globex", 201, "ada"),
            ("POST /login/{token}", None, 303, "ada"),
        ]


async def test_a_tenants_key_or_session_never_reaches_the_installation(
    database: Database, tmp_path: Path
) -> None:
    async with (
        api_server(database, tmp_path) as server,
        server.client() as with_key,
        signed_in(server, "admin", "acme") as with_session,
    ):
        await server.another_tenant("globex")
        for client in (with_key, with_session):
            assert_problem(await client.get("/v1/tenants"), 403, "role")
            assert_problem(await client.post("/v1/tenants", json={"slug": "mine"}), 403, "role")
            theirs = await client.get("/v1/audit", params={"tenant": "globex"})
            assert_problem(theirs, 422, "X-Penstock-Tenant")
            assert (await client.get("/v1/session")).json()["tenants"] == []
            assert {row["tenant"] for row in (await client.get("/v1/sessions")).json()["items"]} == {"acme"}


@pytest.mark.parametrize(
    "target",
    ["//evil", "/\\evil", "https://evil", "evil", "/\t/evil", "/%0d%0a\nx", "\\\\evil", "", "/é", None],
)
def test_nobody_is_sent_to_another_site_after_signing_in(target: str | None) -> None:
    assert safe_next(target) == "/"


@pytest.mark.parametrize("target", ["/", "/documents?status=failed", "/%2F%2Fevil", "/a//b", "/search?q=%5C"])
def test_a_path_of_the_console_is_kept_through_signing_in(target: str) -> None:
    assert safe_next(target) == target


async def test_without_sign_in_only_this_machine_is_served(database: Database, tmp_path: Path) -> None:
    for host in ("0.0.0.0", "192.0.2.1", "::"):  # noqa: S104 - what must be refused
        settings = Settings(console_auth="off", api_host=host, data_dir=tmp_path)
        with pytest.raises(SettingInvalid, match="PENSTOCK_CONSOLE_AUTH"):
            create_app(Engine(settings))
    async with api_server(database, tmp_path, console_auth="off") as server:
        async with browser(server) as client:
            session = (await client.get("/v1/session")).json()
            assert (session["role"], session["is_installation"]) == ("admin", True)
            assert (await client.post("/v1/tenants", json={"slug": "new"})).status_code == 201
            proxied = await client.get("/v1/session", headers={"X-Forwarded-For": "192.0.2.1"})
            assert_problem(proxied, 403, "PENSTOCK_CONSOLE_AUTH")
        async with httpx2.AsyncClient(base_url=server.url) as other_site:
            answer = await other_site.post("/v1/tenants", json={"slug": "evil"})
            assert_problem(answer, 403, "Sec-Fetch-Site")
