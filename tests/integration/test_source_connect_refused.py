"""A source that is not connected leaves nothing behind, whether its user or its provider refused."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest

from penstock.sources.errors import ClientMissing, ConnectFailed
from penstock.sources.oauth.token_store import TokenStore
from tests.integration.connecting_sources import connections, served
from tests.plugins.database import Database


async def test_a_denied_consent_leaves_nothing_behind_but_its_code(
    database: Database, tmp_path: Path
) -> None:
    async with connections(database, tmp_path) as here:
        connecting = here.works.engine.connecting
        asked = await connecting.begin(here.works.tenant_id, "hubspot")
        denied = {
            "state": asked.state,
            "error": "access_denied",
            "error_description": "secret detail <script>",
        }
        with pytest.raises(ConnectFailed, match="HubSpot was not connected") as failed:
            await connecting.finish(denied)
        assert failed.value.reason == "access_denied"
        assert "secret detail" not in str(failed.value)
        progress = await connecting.follow(here.works.tenant_id, asked.state)
        assert (progress.status, progress.error_code) == ("failed", "access_denied")
        assert await here.works.value("select count(*) from ingest.source") == 0
        assert await here.works.value("select count(*) from vault.secret") == 0


async def test_a_failed_exchange_leaves_nothing_behind(database: Database, tmp_path: Path) -> None:
    async with connections(database, tmp_path) as here:
        for fault in (
            {"kind": "server_error", "surface": "token"},
            {"kind": "not_json", "surface": "token"},
            {"kind": "server_error", "surface": "identity"},
        ):
            here.simulators.fail(provider="hubspot", **fault)  # type: ignore[arg-type]  # plain words
            with pytest.raises(ConnectFailed) as failed:
                await here.connect()
            assert failed.value.reason == "provider_unavailable"
        assert await here.works.value("select count(*) from ingest.source") == 0
        assert await here.works.value("select count(*) from vault.secret") == 0
        assert await here.works.value("select count(*) from ingest.pending_sync") == 0


async def test_an_unknown_a_used_and_an_expired_state_get_one_answer(
    database: Database, tmp_path: Path
) -> None:
    async with (
        served(database, tmp_path) as (server, _),
        server.client() as client,
        httpx2.AsyncClient(timeout=30) as browser,
    ):
        consent = (await client.get("/v1/sources/hubspot/connect")).headers["location"]
        callback = (await browser.get(consent)).headers["location"]
        async with database.connect("admin") as admin:
            await admin.execute("update ingest.connect_attempt set expires_at = now()")
        expired = await browser.get(callback)
        unknown = await browser.get(f"{server.url}/oauth/callback?state=unknown&code=x")
        none = await browser.get(f"{server.url}/oauth/callback")
        assert {expired.status_code, unknown.status_code, none.status_code} == {400}
        assert expired.text == unknown.text == none.text
        odd = await browser.get(f"{server.url}/oauth/callback?state=%00%ff&code=%00&error=<script>")
        assert odd.status_code == 400
        assert "<script" not in odd.text
        assert (await browser.get(f"{server.url}/oauth/connected/unknown")).status_code == 404
        assert await server.count("ingest.source") == 0


async def test_a_state_connects_only_the_tenant_that_asked_for_it(database: Database, tmp_path: Path) -> None:
    async with served(database, tmp_path) as (server, _), httpx2.AsyncClient(timeout=30) as browser:
        other, other_key = await server.another_tenant("mill")
        connecting = server.engine.connecting
        asked = await connecting.begin(server.tenant.tenant_id, "hubspot")
        back = (await browser.get(asked.url)).headers["location"]
        brought = {name: values[0] for name, values in parse_qs(urlsplit(back).query).items()}
        with pytest.raises(ConnectFailed) as refused:
            await connecting.finish(brought, tenant_id=other.tenant_id)
        assert refused.value.reason == "state_invalid"
        asked = await connecting.begin(server.tenant.tenant_id, "hubspot")
        back = (await browser.get(asked.url)).headers["location"]
        assert (await browser.get(back)).status_code == 303
        async with server.client(other_key) as theirs, server.client() as ours:
            assert (await theirs.get("/v1/sources")).json()["items"] == []
            assert len((await ours.get("/v1/sources")).json()["items"]) == 1


async def test_a_code_for_another_verifier_is_refused(database: Database, tmp_path: Path) -> None:
    async with connections(database, tmp_path) as here:
        connecting, tenant_id = here.works.engine.connecting, here.works.tenant_id
        first, second = [await connecting.begin(tenant_id, "hubspot") for _ in range(2)]
        stolen = await here.consent(first.url)
        with pytest.raises(ConnectFailed) as failed:
            await connecting.finish({**stolen, "state": second.state})
        assert failed.value.reason == "invalid_grant"


async def test_a_code_of_another_issuer_is_not_sent_to_the_provider(
    database: Database, tmp_path: Path
) -> None:
    async with connections(database, tmp_path) as here:
        connecting, tenant_id = here.works.engine.connecting, here.works.tenant_id
        asked = await connecting.begin(tenant_id, "gmail")
        with pytest.raises(ConnectFailed) as failed:
            await connecting.finish({**await here.consent(asked.url), "iss": "https://accounts.example"})
        assert failed.value.reason == "issuer_mismatch"
        assert here.simulators.ledger.count("gmail", "token") == 0
        asked = await connecting.begin(tenant_id, "gmail")
        brought = await here.consent(asked.url)
        assert (await connecting.finish({**brought, "iss": here.simulators.url})).is_new


async def test_an_attempt_ends_with_the_key_that_began_it(database: Database, tmp_path: Path) -> None:
    async with (
        served(database, tmp_path) as (server, _),
        server.client() as client,
        httpx2.AsyncClient(timeout=30) as browser,
    ):
        callbacks = []
        for _ in range(2):
            consent = (await client.get("/v1/sources/hubspot/connect")).headers["location"]
            callbacks.append((await browser.get(consent)).headers["location"])
        assert (await browser.get(callbacks[0])).status_code == 303
        async with database.connect("admin") as admin:
            await admin.execute("update accounts.api_key set revoked_at = now()")
        refused = await browser.get(callbacks[1])
        assert (refused.status_code, "state_invalid" in refused.text) == (400, True)


async def test_a_grant_without_a_refresh_token_is_no_source(database: Database, tmp_path: Path) -> None:
    async with connections(database, tmp_path) as here:
        connecting = here.works.engine.connecting
        asked = await connecting.begin(here.works.tenant_id, "google_drive")
        brought = await here.consent(asked.url.replace("access_type=offline", "access_type=online"))
        with pytest.raises(ConnectFailed) as failed:
            await connecting.finish(brought)
        assert failed.value.reason == "no_refresh_token"
        assert await here.works.value("select count(*) from ingest.source") == 0
        assert await here.works.value("select count(*) from vault.secret") == 0


async def test_a_crash_after_the_exchange_leaves_no_source_and_the_next_attempt_connects(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with connections(database, tmp_path) as here:
        connecting, tenant_id = here.works.engine.connecting, here.works.tenant_id
        asked = await connecting.begin(tenant_id, "hubspot")
        brought = await here.consent(asked.url)

        async def crash(*_: object, **__: object) -> None:
            raise RuntimeError("the process dies here")

        with monkeypatch.context() as dying:
            dying.setattr(TokenStore, "put", crash)
            with pytest.raises(RuntimeError):
                await connecting.finish(brought)
        assert await here.works.value("select count(*) from ingest.source") == 0
        assert (await connecting.follow(tenant_id, asked.state)).status == "connecting"
        with pytest.raises(ConnectFailed):
            await connecting.finish(brought)
        await here.works.value("update ingest.connect_attempt set expires_at = now() returning true")
        assert (await connecting.follow(tenant_id, asked.state)).status == "expired"
        source = await here.source(await here.connect())
        assert source["status"] == "active"


async def test_a_provider_without_a_client_names_the_missing_setting(
    database: Database, tmp_path: Path
) -> None:
    async with connections(database, tmp_path, hubspot_client_id=None) as here:
        with pytest.raises(ClientMissing, match="PENSTOCK_HUBSPOT_CLIENT_ID is not set"):
            await here.works.engine.connecting.begin(here.works.tenant_id, "hubspot")


async def test_old_attempts_are_forgotten_with_their_verifiers(database: Database, tmp_path: Path) -> None:
    async with connections(database, tmp_path) as here:
        connecting = here.works.engine.connecting
        await connecting.begin(here.works.tenant_id, "hubspot")
        await connecting.forget_old()
        assert await here.works.value("select count(*) from ingest.connect_attempt") == 1
        await here.works.value(
            "update ingest.connect_attempt set expires_at = now() - interval '2 days' returning true"
        )
        await connecting.forget_old()
        assert await here.works.value("select count(*) from ingest.connect_attempt") == 0
        assert await here.works.value("select count(*) from vault.secret") == 0
