"""A tenant's sources over HTTP and by the client: listed, paused, resumed and removed."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

from penstock.client import Client
from tests.integration.api_server import api_server, assert_problem
from tests.integration.test_api_webhooks import BODY, signed
from tests.plugins.database import Database

HOOK = "/webhook/acme"


async def test_a_paused_webhook_refuses_deliveries_like_one_that_does_not_exist(
    database: Database, tmp_path: Path
) -> None:
    async with (
        api_server(database, tmp_path) as server,
        server.client("") as sender,
        Client(server.url, server.key) as client,
    ):
        unknown = await sender.post(HOOK, content=BODY, headers=signed("whsec_" + "A" * 44))
        made = await client.create_webhook_source()
        assert made.secret is not None
        (source,) = await client.sources()
        assert (source.source_id, source.kind, source.project, source.status) == (
            made.source_id, "webhook", "default", "active",
        )  # fmt: skip
        assert (await sender.post(HOOK, content=BODY, headers=signed(made.secret))).status_code == 202

        await client.pause_source(source.source_id)
        await client.pause_source(source.source_id)
        assert [each.status for each in await client.sources()] == ["paused"]
        refused = await sender.post(HOOK, content=b"other", headers=signed(made.secret, b"other"))
        assert refused.status_code == unknown.status_code
        said = {"request_id": None}
        assert refused.json() | said == unknown.json() | said
        rotated = await client.rotate_webhook_source()
        assert [each.status for each in await client.sources()] == ["paused"], "rotating does not resume"

        await client.resume_source(source.source_id)
        assert rotated.secret is not None
        for secret in (made.secret, rotated.secret):
            body = secret.encode()
            answer = await sender.post(HOOK, content=body, headers=signed(secret, body))
            assert answer.status_code == 202, answer.text


async def test_a_removed_webhook_is_gone_with_its_secrets_and_can_be_created_again(
    database: Database, tmp_path: Path
) -> None:
    async with (
        api_server(database, tmp_path) as server,
        server.client("") as sender,
        Client(server.url, server.key) as client,
    ):
        made = await client.create_webhook_source()
        assert made.secret is not None
        delivered = await sender.post(HOOK, content=BODY, headers=signed(made.secret))
        assert await server.count("vault.secret") == 1
        await client.remove_source(made.source_id)
        assert await client.sources() == []
        assert await server.count("vault.secret") == 0
        refused = await sender.post(HOOK, content=b"other", headers=signed(made.secret, b"other"))
        assert refused.status_code == 401, "as if there were none"
        document = await client.document(delivered.json()["document_id"])
        assert document.source_id == made.source_id

        again = await client.create_webhook_source()
        assert again.source_id != made.source_id
        assert again.secret is not None
        old = await sender.post(HOOK, content=b"third", headers=signed(made.secret, b"third"))
        assert old.status_code == 401
        new = await sender.post(HOOK, content=b"third", headers=signed(again.secret, b"third"))
        assert new.status_code == 202


async def test_sources_of_other_tenants_are_not_touched(database: Database, tmp_path: Path) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client:
        source_id = (await client.post("/v1/sources/webhook")).json()["source_id"]
        assert_problem(await client.post("/v1/sources/webhook"), 409, "source")
        _, key = await server.another_tenant("other")
        for path in (f"/v1/sources/{source_id}", f"/v1/sources/{uuid4()}"):
            async with server.client(key) as stranger:
                for method, call in (("POST", "/pause"), ("POST", "/resume"), ("DELETE", "")):
                    assert_problem(await stranger.request(method, path + call), 404, "source_id")
        reader = await server.another_key("documents:read", "documents:write", "projects:write")
        async with server.client(reader) as without_scope:
            for method, call in (("POST", "/pause"), ("POST", "/resume"), ("DELETE", "")):
                answer = await without_scope.request(method, f"/v1/sources/{source_id}{call}")
                assert_problem(answer, 403, "scope")
            assert (await without_scope.get("/v1/sources")).status_code == 200
        assert [each["status"] for each in (await client.get("/v1/sources")).json()["items"]] == ["active"]


async def test_every_kind_of_source_says_how_it_is_added_and_what_is_missing(
    database: Database, tmp_path: Path
) -> None:
    given = {"hubspot_client_id": "id", "hubspot_client_secret": "secret"}
    async with api_server(database, tmp_path, **given) as server, server.client() as caller:
        kinds = {each["kind"]: each for each in (await caller.get("/v1/source-kinds")).json()["items"]}
    ways = {kind: (each["way"], each["is_ready"]) for kind, each in kinds.items()}
    assert ways == {
        "folder": ("config", True),
        "s3": ("config", True),
        "gmail": ("consent", False),
        "google_drive": ("consent", False),
        "hubspot": ("consent", True),
        "imap": ("password", True),
        "outlook": ("consent", False),
        "quickbooks": ("consent", False),
        "webhook": ("webhook", True),
    }
    assert "PENSTOCK_GMAIL_CLIENT_ID" in kinds["gmail"]["reason"]
    assert "OAuth client" in kinds["gmail"]["remedy"]
