"""A source is connected by its user's consent: once, for the tenant that asked, and all of it or nothing."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import logging
import re
from datetime import timedelta
from pathlib import Path
from urllib.parse import parse_qs, urlsplit
from uuid import UUID

import httpx2
import pytest

from penstock.client import ApiProblem, Client
from tests.integration.api_server import assert_problem
from tests.integration.connecting_sources import connections, served
from tests.integration.console_client import signed_in
from tests.plugins.database import Database
from tests.plugins.workers import eventually


async def test_a_user_goes_to_the_provider_and_comes_back_to_a_page_that_shows_the_sync(
    database: Database, tmp_path: Path
) -> None:
    async with (
        served(database, tmp_path) as (server, simulators),
        server.client() as client,
        httpx2.AsyncClient(timeout=30) as browser,
    ):
        sent = await client.get("/v1/sources/hubspot/connect")
        assert sent.status_code == 303
        consent = sent.headers["location"]
        assert consent.startswith(f"{simulators.url}/hubspot/oauth/authorize?")
        back = await browser.get(consent)
        callback = back.headers["location"]
        assert callback.startswith(f"{server.url}/oauth/callback?")

        answer = await browser.get(callback)
        assert answer.status_code == 303
        page = await browser.get(answer.next_request.url if answer.next_request else "")
        assert "code=" not in str(page.url)
        assert page.status_code == 200
        assert "HubSpot is connected" in page.text
        assert "millbrook.example is connected to the tenant acme" in page.text
        assert '<meta http-equiv="refresh"' in page.text
        assert "<script" not in page.text
        assert "script-src" not in page.headers["content-security-policy"]
        assert "default-src 'none'" in page.headers["content-security-policy"]
        assert page.headers["referrer-policy"] == "no-referrer"
        assert (await browser.get(f"{server.url}/oauth/page.css")).status_code == 200

        (source,) = (await client.get("/v1/sources")).json()["items"]
        assert (source["kind"], source["name"], source["status"]) == (
            "hubspot",
            "millbrook.example",
            "active",
        )
        assert source["health"]["state"] == "syncing"
        assert await server.count("ingest.pending_sync where is_full and reason = 'connected'") == 1

        again = await browser.get(callback)
        assert again.status_code == 400
        assert "already used" in again.text
        assert await server.count("ingest.source") == 1


async def test_connecting_and_reconnecting_leave_rows_with_the_tenant_and_who_asked(
    database: Database, tmp_path: Path
) -> None:
    async with (
        served(database, tmp_path) as (server, simulators),
        server.client(Accept="application/json") as program,
        signed_in(server, "admin", None, **{"X-Penstock-Tenant": "acme"}) as person,
        httpx2.AsyncClient(timeout=30) as provider,
    ):
        callbacks = []
        for asker in (program, person):
            asked = await asker.get("/v1/sources/hubspot/connect", headers={"Accept": "application/json"})
            callbacks.append((await provider.get(asked.json()["url"])).headers["location"])
            assert (await provider.get(callbacks[-1])).status_code == 303
        (source,) = (await program.get("/v1/sources")).json()["items"]
        assert (await provider.get(callbacks[0])).status_code == 400  # used up: it is nobody's any more
        refused = await person.get("/v1/sources/folder/connect")
        asked = await program.get("/v1/sources/hubspot/connect")
        state = parse_qs(urlsplit(asked.json()["url"]).query)["state"][0]
        denied = {"state": state, "error": "access_denied"}
        assert (await provider.get(f"{server.url}/oauth/callback", params=denied)).status_code == 400
        found = (await person.get("/v1/audit")).json()["items"][::-1]
        begun, back = "GET /v1/sources/{provider}/connect", "GET /oauth/callback"
        assert [
            (row["action"], row["target"], row["who"], row["via"], row["status"], row["detail"])
            for row in found
        ] == [
            (begun, "hubspot", "test", "key", 200, {}),
            (back, "hubspot", "test", "key", 303, {"source_id": source["source_id"], "new": True}),
            (begun, "hubspot", "ada", "session", 200, {}),
            (back, "hubspot", "ada", "session", 303, {"source_id": source["source_id"], "new": False}),
            (begun, "folder", "ada", "session", refused.status_code, {"problem": "invalid"}),
            (begun, "hubspot", "test", "key", 200, {}),
            (back, "hubspot", "test", "key", 400, {"problem": "access_denied"}),
        ]
        assert {(row["tenant"], row["role"]) for row in found} == {("acme", "admin")}
        assert state not in str(found)
        assert all(secret not in str(found) for secret in simulators.providers["hubspot"].oauth.grants.access)


async def test_the_consent_page_is_asked_with_pkce_a_state_and_only_our_redirect(
    database: Database, tmp_path: Path
) -> None:
    async with served(database, tmp_path) as (server, _), server.client(Accept="application/json") as client:
        answers = [
            (
                await client.get("/v1/sources/google_drive/connect", params={"redirect_uri": "https://evil"})
            ).json()
            for _ in range(2)
        ]
        first, second = (parse_qs(urlsplit(answer["url"]).query) for answer in answers)
        assert first["redirect_uri"] == [f"{server.url}/oauth/callback"]
        assert first["code_challenge_method"] == ["S256"]
        assert len(base64.urlsafe_b64decode(first["code_challenge"][0] + "=")) == 32
        assert first["state"] != second["state"]
        assert first["code_challenge"] != second["code_challenge"]
        assert first["access_type"] == ["offline"]
        assert first["prompt"] == ["consent"]
        state = first["state"][0]
        async with database.connect("admin") as admin:
            rows = await admin.fetch("select a.*, a::text as whole from ingest.connect_attempt a")
        assert {row["state_sha256"] for row in rows} >= {hashlib.sha256(state.encode()).digest()}
        assert all(state not in row["whole"] for row in rows)
        assert {row["expires_at"] - row["created_at"] for row in rows} == {timedelta(minutes=10)}
        assert_problem(await client.get("/v1/sources/webhook/connect"), 404, "kind")
        assert (await client.get("/v1/sources/folder/connect")).status_code == 422


@pytest.mark.parametrize("provider", ["hubspot", "google_drive", "quickbooks", "gmail"])
async def test_every_provider_is_connected_with_its_account(
    database: Database, tmp_path: Path, provider: str
) -> None:
    async with connections(database, tmp_path) as here:
        source_id = await here.connect(provider)
        source = await here.source(source_id)
        assert source["account"]
        assert source["name"]
        assert source["status"] == "active"
        token = await here.token(source_id)
        oauth = here.simulators.providers[provider].oauth
        assert oauth.grants.access[token].grant.refresh_token
        assert await here.generations(source_id, "refresh_token") == [(1, False)]
        assert (
            await here.works.value("select count(*) from vault.secret where purpose = 'pkce_verifier'") == 0
        )


async def test_connecting_again_keeps_id_cursor_and_history(database: Database, tmp_path: Path) -> None:
    async with connections(database, tmp_path) as here:
        source_id = await here.connect()
        await here.works.value(
            "insert into ingest.source_stream (source_id, stream, tenant_id, cursor, updated_at)"
            " values ($1, 'contacts', $2, '{\"after\": 7}', now()) returning true",
            source_id,
            here.works.tenant_id,
        )
        await here.works.value(
            "update ingest.source set status = 'error', status_message = 'refresh_token_invalid: x',"
            " synced_at = now() where source_id = $1 returning true",
            source_id,
        )
        await here.works.value("delete from ingest.pending_sync returning true")
        assert await here.connect() == source_id
        source = await here.source(source_id)
        assert (source["status"], source["status_message"]) == ("active", None)
        assert await here.works.value("select cursor ->> 'after' from ingest.source_stream") == "7"
        assert await here.works.value("select is_full from ingest.pending_sync") is False
        assert await here.generations(source_id, "refresh_token") == [(1, True), (2, False)]
        assert await here.works.value("select count(*) from ingest.source") == 1


async def test_the_http_client_connects_shows_syncs_and_disconnects_a_source(
    database: Database, tmp_path: Path
) -> None:
    async with (
        served(database, tmp_path) as (server, _),
        Client(server.url, server.key) as client,
        httpx2.AsyncClient(timeout=30, follow_redirects=True) as browser,
    ):
        page = await browser.get(await client.connect_source("hubspot"))
        assert "HubSpot is connected" in page.text
        (listed,) = await client.sources()
        assert (listed.kind, listed.status, listed.account) == ("hubspot", "active", "44820017")
        async with server.working():
            await client.sync_source(listed.source_id, full=True)
            await eventually(lambda: _is_healthy(client, listed.source_id), within=60)
        shown = await client.source(listed.source_id)
        assert shown.jobs[0].status == "completed"
        assert {stream.stream for stream in shown.streams} == {"companies", "contacts", "deals"}
        assert (await client.schedule_source(listed.source_id, 3_600)).sync_every_seconds == 3_600
        await client.pause_source(listed.source_id)
        assert (await client.source(listed.source_id)).status == "paused"
        await client.resume_source(listed.source_id)
        with pytest.raises(ApiProblem, match="documents"):
            await client.remove_source(listed.source_id)
        await client.remove_source(listed.source_id, documents="delete")
        assert await client.sources() == []


async def _is_healthy(client: Client, source_id: UUID) -> bool:
    health = (await client.source(source_id)).health
    return health is not None and health.state == "healthy"


async def test_two_tabs_that_connect_one_account_make_one_source(database: Database, tmp_path: Path) -> None:
    async with connections(database, tmp_path) as here:
        made = await asyncio.gather(*(here.connect("quickbooks") for _ in range(4)))
        assert len(set(made)) == 1
        await here.expire(made[0])
        await here.token(made[0])


async def test_another_account_becomes_a_source_of_its_own(database: Database, tmp_path: Path) -> None:
    async with connections(database, tmp_path) as here:
        first = await here.connect("quickbooks")
        connecting = here.works.engine.connecting
        asked = await connecting.begin(here.works.tenant_id, "quickbooks")
        second = await connecting.finish({**await here.consent(asked.url), "realmId": "1234567890"})
        assert (second.is_new, second.source_id == first) == (True, False)
        assert await here.works.value("select count(*) from ingest.source where status = 'active'") == 2
        assert await here.token(first) != await here.token(second.source_id)


async def test_no_code_state_or_token_is_logged_by_the_api(
    database: Database, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="penstock")
    async with (
        served(database, tmp_path) as (server, simulators),
        server.client() as client,
        httpx2.AsyncClient(timeout=30) as browser,
    ):
        consent = (await client.get("/v1/sources/hubspot/connect")).headers["location"]
        callback = (await browser.get(consent)).headers["location"]
        await browser.get(callback)
        await browser.get(callback)
        ours = "\n".join(
            record.getMessage() for record in caplog.records if record.name.startswith("penstock")
        )
        assert "source_connected" in ours
        oauth = simulators.hubspot.oauth
        brought = re.findall(r"(?:code|state)=([\w-]+)", callback)
        secrets = [*oauth.grants.access, *oauth.grants.refresh, oauth.client_secret, *brought]
        assert len(secrets) == 5
        assert [secret for secret in secrets if secret in ours] == []
