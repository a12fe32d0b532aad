"""Who gets in: keys, scopes, other tenants, rates; and what every answer carries."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from penstock.accounts import Scope
from tests.integration.api_server import TEXT, api_server, assert_problem, form
from tests.plugins.database import Database

if TYPE_CHECKING:
    import pytest

UPLOAD = "/v1/documents/upload"


async def test_without_a_valid_key_nothing_is_answered(database: Database, tmp_path: Path) -> None:
    async with api_server(database, tmp_path) as server:
        for headers in (
            {},
            {"Authorization": "Bearer"},
            {"Authorization": "Bearer pk_wrong"},
            {"Authorization": f"Basic {server.key}"},
            {"X-API-Key": "pk_wrong"},
            {"X-API-Key": "x" * 5_000},
        ):
            async with server.client("", **headers) as client:
                answer = await client.get("/v1/documents")
                assert answer.status_code == 401, headers
                assert answer.headers["www-authenticate"].startswith("Bearer")
                assert answer.headers["content-type"] == "application/problem+json"
                assert (await client.post(UPLOAD, files=form())).status_code == 401
        async with server.client("", **{"X-API-Key": server.key}) as client:
            assert (await client.get("/v1/documents")).status_code == 200


async def test_a_key_is_valid_until_it_is_revoked(database: Database, tmp_path: Path) -> None:
    async with api_server(database, tmp_path) as server, server.client() as admin:
        wanted = {"name": "reader", "scopes": ["documents:read"]}
        made = await admin.post("/v1/keys", json=wanted)
        assert made.status_code == 201, made.text
        key = made.json()
        listed = (await admin.get("/v1/keys")).json()["items"]
        assert key["secret"] not in str(listed)
        assert key["key_id"] in [each["key_id"] for each in listed]
        async with server.client(key["secret"]) as client:
            assert (await client.get("/v1/documents")).status_code == 200
            assert (await admin.delete(f"/v1/keys/{key['key_id']}")).status_code == 204
            assert_problem(await client.get("/v1/documents"), 401, "api_key")
        assert_problem(await admin.delete(f"/v1/keys/{uuid4()}"), 404, "key_id")
        yesterday = (datetime.now(UTC) - timedelta(days=1)).isoformat()
        assert_problem(
            await admin.post("/v1/keys", json={**wanted, "expires_at": yesterday}), 422, "expires_at"
        )


SCOPES: list[tuple[Scope, str, str]] = [
    ("documents:read", "GET", "/v1/documents"),
    ("documents:read", "GET", "/v1/projects"),
    ("documents:read", "GET", "/v1/usage"),
    ("documents:write", "POST", UPLOAD),
    ("documents:write", "DELETE", f"/v1/documents/{uuid4()}"),
    ("search", "GET", "/v1/search?q=mill"),
    ("projects:write", "POST", "/v1/projects"),
    ("projects:write", "POST", "/v1/projects/default/reindex"),
    ("admin", "GET", "/v1/keys"),
    ("admin", "PUT", "/v1/webhook"),
    ("admin", "POST", "/v1/sources/webhook"),
]


async def test_a_key_may_do_what_its_scopes_say(database: Database, tmp_path: Path) -> None:
    others: tuple[Scope, ...] = ("documents:read", "documents:write", "search", "projects:write")
    async with api_server(database, tmp_path) as server:
        for scope, method, path in SCOPES:
            body = {"/v1/webhook": {"url": None}, "/v1/projects": {"slug": "sales"}}.get(path)
            files = form() if path == UPLOAD else None
            async with server.client(await server.another_key(scope)) as client:
                answer = await client.request(method, path, files=files, json=body)
                assert answer.status_code in (200, 201, 202, 204, 404), answer.text
            lacking = await server.another_key(*(other for other in others if other != scope))
            async with server.client(lacking) as client:
                assert_problem(await client.request(method, path, files=files, json=body), 403, "scope")


async def test_another_tenants_things_are_not_found(database: Database, tmp_path: Path) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client:
        document = (await client.post(UPLOAD, files=form())).json()["document_id"]
        await client.post("/v1/projects", json={"slug": "secret"})
        _, key = await server.another_tenant("other")
        async with server.client(key) as stranger:
            path = f"/v1/documents/{document}"
            for call in ("", "/content", "/chunks", "/events", "/explain"):
                assert_problem(await stranger.get(path + call), 404, "document_id")
            for call in ("/retry", "/reindex"):
                assert_problem(await stranger.post(path + call), 404, "document_id")
            assert_problem(await stranger.delete(path), 404, "document_id")
            assert_problem(await stranger.put(f"{path}/content", content=b"x"), 404, "document_id")
            assert_problem(await stranger.get("/v1/projects/secret"), 404, "project")
            assert (await stranger.get("/v1/documents")).json()["items"] == []
            own = await stranger.post(UPLOAD, files=form())
            assert own.json()["created"] is True
            assert own.json()["document_id"] != document
        assert (await client.get(path)).status_code == 200


async def test_a_tenant_over_its_rate_waits_and_others_do_not(database: Database, tmp_path: Path) -> None:
    async with api_server(database, tmp_path) as server:
        _, key = await server.another_tenant("eager", requests_per_minute=3)
        async with server.client(key) as eager:
            answers = [await eager.get("/v1/documents") for _ in range(4)]
            assert [each.status_code for each in answers] == [200, 200, 200, 429]
            assert [each.headers["ratelimit-remaining"] for each in answers] == ["2", "1", "0", "0"]
            assert answers[0].headers["ratelimit-limit"] == "3"
            assert 0 < int(answers[3].headers["retry-after"]) <= 20
            assert_problem(answers[3], 429)
        async with server.client() as other:
            assert (await other.get("/v1/documents")).status_code == 200


async def test_every_answer_carries_an_id_and_safe_headers(database: Database, tmp_path: Path) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client:
        for path in ("/v1/documents", "/nowhere", "/healthz", "/docs"):
            answer = await client.get(path)
            assert answer.headers["x-request-id"]
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["x-frame-options"] == "DENY"
            assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
            assert "server" not in answer.headers
        named = await client.get("/healthz", headers={"X-Request-ID": "mine-1"})
        assert named.headers["x-request-id"] == "mine-1"
        forged = await client.get("/healthz", headers={"X-Request-ID": "a b\tc"})
        assert forged.headers["x-request-id"] != "a b\tc"


async def test_an_internal_error_reveals_nothing_about_the_inside(
    database: Database, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client:
        async with database.connect("admin") as admin:
            await admin.execute("alter function accounts.list_keys(jsonb) rename to list_keys_away")
        problem = assert_problem(await client.get("/v1/keys"), 500)
        assert "list_keys" not in str(problem)
        assert problem["request_id"] in str([record.__dict__ for record in caplog.records])
        assert server.key not in caplog.text
        assert (await client.get("/v1/documents")).status_code == 200


async def test_keys_are_not_stored_in_plain_text(database: Database, tmp_path: Path) -> None:
    async with (
        api_server(database, tmp_path) as server,
        server.client(**{"Idempotency-Key": "k-secret"}) as client,
    ):
        assert (await client.post(UPLOAD, files=form(TEXT))).status_code == 202
        async with database.connect("admin") as admin:
            rows = await admin.fetch("select * from accounts.api_key")
            rows += await admin.fetch("select * from accounts.kept_reply")
        assert server.key not in str(rows)
        assert "k-secret" not in str(rows)
