"""Quotas of a tenant: documents, stored bytes and keys; no race exceeds one, and deleting frees."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from penstock.errors import QuotaExceeded
from penstock.model import DocumentId
from tests.integration.api_server import ApiServer, api_server, assert_problem, form
from tests.plugins.database import Database

UPLOAD = "/v1/documents/upload"


async def set_quotas(server: ApiServer, **quotas: int | None) -> None:
    await server.engine.accounts.set_tenant(server.tenant.tenant_id, **quotas)


async def test_a_quota_of_documents_is_never_exceeded_by_uploads_at_once(
    database: Database, tmp_path: Path
) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client:
        await set_quotas(server, max_documents=5)
        answers = await asyncio.gather(*(client.post(UPLOAD, files=form(f"text {n}")) for n in range(25)))
        accepted = [answer for answer in answers if answer.status_code == 202]
        refused = [answer for answer in answers if answer.status_code != 202]
        assert (len(accepted), len(refused)) == (5, 20)
        assert await server.count("ingest.document") == 5
        assert server.blob_count() == 5
        problem = assert_problem(refused[0], 403, "max_documents")
        assert problem["type"].endswith("quota-exceeded")
        assert "6 of 5 documents" in problem["detail"]
        assert "penstock tenant set" in problem["remedy"]
        assert "--max-documents" in problem["remedy"]

        usage = (await client.get("/v1/usage")).json()["quotas"]
        assert usage["documents"] == {"used": 5, "limit": 5}
        assert (await client.delete(f"/v1/documents/{accepted[0].json()['document_id']}")).status_code == 204
        assert (await client.post(UPLOAD, files=form("there is room"))).status_code == 202
        assert (await client.post(UPLOAD, files=form("not any more"))).status_code == 403
        await set_quotas(server, max_documents=0)
        assert (await client.post(UPLOAD, files=form("no quota"))).status_code == 202


async def test_uploading_an_existing_document_again_does_not_count_towards_the_quota(
    database: Database, tmp_path: Path
) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client:
        await set_quotas(server, max_documents=1)
        assert (await client.post(UPLOAD, files=form("the same"))).json()["created"] is True
        again = await client.post(UPLOAD, files=form("the same"))
        assert (again.status_code, again.json()["created"]) == (202, False)


async def test_a_quota_of_bytes_counts_new_and_changed_content(database: Database, tmp_path: Path) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client:
        await set_quotas(server, max_stored_bytes=100)
        first = await client.post(UPLOAD, files=form("a" * 60))
        path = f"/v1/documents/{first.json()['document_id']}/content"
        problem = assert_problem(await client.post(UPLOAD, files=form("b" * 41)), 403, "max_stored_bytes")
        assert "101 of 100 bytes" in problem["detail"]
        assert (await client.post(UPLOAD, files=form("b" * 40))).status_code == 202
        assert_problem(await client.put(path, files=form("c" * 61)), 403, "max_stored_bytes")
        assert (await client.get(path)).content == b"a" * 60
        assert (await client.put(path, files=form("c" * 10))).status_code == 202
        quotas = (await client.get("/v1/usage")).json()["quotas"]
        assert quotas["stored_bytes"] == {"used": 50, "limit": 100}

        await set_quotas(server, max_stored_bytes=5)
        assert (await client.put(path, files=form("d" * 9))).status_code == 202, "smaller is welcome"


async def test_a_quota_of_keys_counts_only_valid_keys(database: Database, tmp_path: Path) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client:
        await set_quotas(server, max_keys=3)
        wanted = {"name": "k", "scopes": ["search"]}
        answers = await asyncio.gather(*(client.post("/v1/keys", json=wanted) for _ in range(10)))
        made = [answer for answer in answers if answer.status_code == 201]
        assert len(made) == 2
        assert_problem(await client.post("/v1/keys", json=wanted), 403, "max_keys")
        assert (await client.delete(f"/v1/keys/{made[0].json()['key_id']}")).status_code == 204
        assert (await client.post("/v1/keys", json=wanted)).status_code == 201


async def test_the_quota_of_the_settings_applies_to_a_tenant_without_its_own(
    database: Database, tmp_path: Path
) -> None:
    async with (
        api_server(database, tmp_path, max_documents=1, max_keys=2) as server,
        server.client() as client,
    ):
        assert (await client.post(UPLOAD, files=form("one"))).status_code == 202
        assert_problem(await client.post(UPLOAD, files=form("two")), 403, "max_documents")
        shown = await server.engine.accounts.show_tenant(server.tenant.tenant_id)
        assert shown.holdings is not None
        assert (shown.max_documents, shown.holdings.documents.limit) == (None, 1)
        assert (shown.holdings.keys.used, shown.holdings.keys.limit) == (1, 2)
        await set_quotas(server, max_documents=2)
        assert (await client.post(UPLOAD, files=form("two"))).status_code == 202
        await set_quotas(server, max_documents=0)
        assert (await client.post(UPLOAD, files=form("three"))).status_code == 202
        other, key = await server.another_tenant("other")
        async with server.client(key) as client_of_other:
            assert (await client_of_other.post(UPLOAD, files=form("one"))).status_code == 202
        assert other.tenant_id != server.tenant.tenant_id


async def test_a_tenant_cannot_raise_its_own_quota_over_http(database: Database, tmp_path: Path) -> None:
    quotas = {"max_documents", "max_stored_bytes", "max_keys"}
    async with api_server(database, tmp_path) as server, server.client() as client:
        before = (await client.get("/v1/usage")).json()["quotas"]
        described = (await client.get("/openapi.json")).json()
        schemas = described["components"]["schemas"]
        raising = [
            (method, path.replace("{slug}", server.tenant.slug))
            for path, operations in described["paths"].items()
            for method, operation in operations.items()
            for body in operation.get("requestBody", {}).get("content", {}).values()
            if not quotas.isdisjoint(schemas[_name_of(body)].get("properties", {}))
        ]
        assert raising, "operators of the installation can"
        for method, path in raising:
            answer = await client.request(method, path, json={"slug": "new", "max_documents": 1_000_000})
            assert answer.status_code == 403, (method, path, answer.text)
        assert (await client.get("/v1/usage")).json()["quotas"] == before


def _name_of(body: dict[str, Any]) -> str:
    return str(body["schema"].get("$ref", "/Problem")).rpartition("/")[2]


async def test_a_python_caller_gets_the_quota_by_name(database: Database, tmp_path: Path) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client:
        first = await client.post(UPLOAD, files=form("one"))
        await set_quotas(server, max_stored_bytes=3)

        async def pieces() -> AsyncIterator[bytes]:
            yield b"more than before"

        with pytest.raises(QuotaExceeded) as refused:
            await server.engine.intake.replace(
                server.tenant.tenant_id, DocumentId(first.json()["document_id"]), pieces()
            )
        assert refused.value.field == "max_stored_bytes"
