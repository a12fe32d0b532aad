"""Invalid input is refused with the name of the field and never causes an internal error."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from uuid import uuid4

import pytest

from penstock.errors import InvalidArgument
from tests.integration.api_server import api_server, assert_problem, form
from tests.plugins.database import Database


async def test_ids_of_the_wrong_shape_are_refused(database: Database, tmp_path: Path) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client:
        for wrong in ("1", "x" * 500, "%00", "..%2f..", "00000000-0000-0000-0000-00000000000g"):
            for call in ("", "/content", "/chunks", "/events", "/explain"):
                answer = await client.get(f"/v1/documents/{wrong}{call}")
                assert answer.status_code in (404, 422), (wrong, call, answer.text)
        assert_problem(await client.get("/v1/documents/1"), 422, "document_id")
        assert_problem(await client.get(f"/v1/documents/{uuid4()}"), 404, "document_id")
        assert_problem(await client.get("/v1/projects/No%20Slug"), 422, "slug")
        assert_problem(await client.delete("/v1/keys/1"), 422, "key_id")


BAD_FILTERS: list[tuple[str, str]] = [
    ("limit=0", "limit"),
    ("limit=1001", "limit"),
    ("limit=x", "limit"),
    ("cursor=nonsense", "cursor"),
    ("status=done", "status"),
    ("source_id=1", "source_id"),
    ("project=%00", "query"),
    ("title=a%00b", "query"),
    ("project=nowhere", "project"),
]


async def test_invalid_filters_are_refused_with_their_name(database: Database, tmp_path: Path) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client:
        for query, field in BAD_FILTERS:
            answer = await client.get(f"/v1/documents?{query}")
            assert_problem(answer, 404 if query == "project=nowhere" else 422, field)


BAD_BODIES: list[tuple[bytes, int, str]] = [
    (b"", 422, "body"),
    (b"{", 400, "body"),
    (b"[" * 50_000, 400, "body"),
    (b"[]", 422, "body"),
    (b"null", 422, "body"),
    (b'"text"', 422, "body"),
    (b"{}", 422, "slug"),
    (b'{"slug": 3}', 422, "slug"),
    (b'{"slug": null}', 422, "slug"),
    (b'{"slug": "A B"}', 422, "slug"),
    (b'{"slug": "a\\u0000"}', 422, "slug"),
    (b'{"slug": "a", "name": "\\u0000"}', 422, "name"),
    (b'{"slug": "a", "name": "\\ud800"}', 422, "name"),
    (b'{"slug": "a", "unknown": 1}', 422, "unknown"),
    (b'{"slug": "a", "chunk_tokens": 1e9}', 422, "chunk_tokens"),
    (b'{"slug": "a", "chunk_tokens": "many"}', 422, "chunk_tokens"),
    (b'{"slug": "a", "chunk_tokens": 64, "chunk_overlap": 60}', 422, "chunk_overlap"),
    (b'{"slug": "a", "chunk_strategy": "magic"}', 422, "chunk_strategy"),
    (b'{"slug": "a", "text_config": "klingon"}', 422, "text_config"),
    (b'{"slug": "a", "name": "%b"}' % (b"x" * 1_100_000), 413, "body"),
    (b'{"slug": "default"}', 409, "slug"),
    (b"\xff\xfe{}", 400, "body"),
]


async def test_invalid_json_values_are_refused_with_their_name(database: Database, tmp_path: Path) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client:
        kind = {"Content-Type": "application/json"}
        for body, status, field in BAD_BODIES:
            assert_problem(await client.post("/v1/projects", content=body, headers=kind), status, field)


NO_TEXTS: list[object] = [None, "", 3, [], {}]
NO_COUNTS: list[object] = ["many", -1, [], 1e9]
BAD_CHANGES: list[tuple[str, object]] = [
    *((field, wrong) for field in ("name", "text_config", "chunk_strategy") for wrong in NO_TEXTS),
    *((field, wrong) for field in ("chunk_tokens", "chunk_overlap") for wrong in NO_COUNTS),
    ("embedder", "minilm"),
    ("slug", "other"),
]


async def test_setting_a_field_of_a_project_to_null_is_refused_with_its_name(
    database: Database, tmp_path: Path
) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client:
        for field, value in BAD_CHANGES:
            assert_problem(await client.patch("/v1/projects/default", json={field: value}), 422, field)
        for field in ("name", "text_config", "chunk_strategy"):
            with pytest.raises(InvalidArgument) as refused:
                await server.engine.accounts.set_project(server.tenant.tenant_id, "default", **{field: None})
            assert refused.value.field == field
        with pytest.raises(InvalidArgument, match="'embedder' is not a field"):
            await server.engine.accounts.set_project(server.tenant.tenant_id, "default", embedder="minilm")
        with pytest.raises(InvalidArgument, match="name must not be empty"):
            await server.engine.accounts.set_tenant(server.tenant.tenant_id, name=None)
        answer = await client.patch("/v1/projects/default", json={"chunk_tokens": 64, "chunk_overlap": None})
        assert answer.status_code == 200
        answer = await client.patch("/v1/projects/default", json={"chunk_tokens": None})
        assert (answer.status_code, answer.json()["chunk_tokens"]) == (200, None)


OF_VENDORS = {"/webhooks/outlook": ["value"], "/webhooks/gmail": ["message", "subscription"]}
"""Bodies that a provider writes: our document says no more than that they are objects."""


async def test_null_or_a_wrong_type_in_any_field_of_any_body_is_never_an_internal_error(
    database: Database, tmp_path: Path
) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client:
        described = (await client.get("/openapi.json")).json()
        schemas, tried = described["components"]["schemas"], 0
        for path, operations in described["paths"].items():
            for verb, operation in operations.items():
                content = operation.get("requestBody", {}).get("content", {}).get("application/json")
                if content is None or "/internal/" in path:
                    continue
                schema = content["schema"]
                if path in OF_VENDORS:
                    fields = OF_VENDORS[path]
                else:
                    anyof = schema.get("anyOf", [schema])
                    ref = next(each["$ref"] for each in anyof if "$ref" in each)
                    fields = schemas[ref.rpartition("/")[2]]["properties"]
                for field in fields:
                    for value in (None, "", "x", 0, -1, 2**70, 1.5, True, [], [None], {}, {"a": None}):
                        answer = await client.request(
                            verb, path.replace("{slug}", "default"), json={field: value}
                        )
                        assert answer.status_code < 500, (verb, path, field, value, answer.text)
                        tried += 1
        assert tried > 200


async def test_errors_of_http_itself_are_problem_documents_too(database: Database, tmp_path: Path) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client:
        assert_problem(await client.get("/v1/nowhere"), 404)
        wrong_verb = await client.patch("/v1/documents")
        assert_problem(wrong_verb, 405)
        assert "GET" in wrong_verb.headers["allow"]
        kind = {"Content-Type": "text/plain"}
        assert_problem(await client.post("/v1/projects", content=b"{}", headers=kind), 415, "Content-Type")
        xml = {"Accept": "text/xml"}
        assert_problem(await client.get("/v1/documents", headers=xml), 406, "Accept")
        for fine in ("*/*", "application/*;q=0.5", "text/html, application/json", "application/problem+json"):
            assert (await client.get("/v1/documents", headers={"Accept": fine})).status_code == 200


async def test_an_invalid_idempotency_key_is_refused(database: Database, tmp_path: Path) -> None:
    async with api_server(database, tmp_path) as server:
        for wrong in ("", "a b", "x" * 256):
            async with server.client(**{"Idempotency-Key": wrong}) as client:
                answer = await client.post("/v1/projects", json={"slug": "a"})
                assert_problem(answer, 422, "Idempotency-Key")
                answer = await client.post("/v1/documents/upload", files=form())
                assert_problem(answer, 422, "Idempotency-Key")


async def test_a_repeated_request_with_a_key_gets_the_same_answer(database: Database, tmp_path: Path) -> None:
    async with (
        api_server(database, tmp_path) as server,
        server.client(**{"Idempotency-Key": "p-1"}) as client,
    ):
        first = await client.post("/v1/projects", json={"slug": "sales"})
        again = await client.post("/v1/projects", json={"slug": "sales"})
        assert (first.status_code, again.status_code) == (201, 201)
        assert again.json() == first.json()
        assert_problem(await client.post("/v1/projects", json={"slug": "other"}), 422, "Idempotency-Key")
        _, key = await server.another_tenant("other")
        async with server.client(key, **{"Idempotency-Key": "p-1"}) as stranger:
            answer = await stranger.post("/v1/projects", json={"slug": "sales"})
            assert answer.json()["project_id"] != first.json()["project_id"]


async def test_a_false_content_length_ends_the_connection_and_nothing_else(
    database: Database, tmp_path: Path
) -> None:
    async with api_server(database, tmp_path) as server:
        host, port = server.url.removeprefix("http://").split(":")
        body = json.dumps({"slug": "short"}).encode()
        for length in (str(len(body) + 10), "-1", "x", str(len(body) - 3)):
            reader, writer = await asyncio.open_connection(host, int(port))
            head = (
                f"POST /v1/projects HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {server.key}\r\n"
                f"Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
            )
            writer.write(head.encode() + body)
            await writer.drain()
            writer.write_eof()
            answer = await asyncio.wait_for(reader.read(), 10)
            assert not answer.startswith((b"HTTP/1.1 5", b"HTTP/1.1 2")), answer
            writer.close()
        async with server.client() as client:
            projects = (await client.get("/v1/projects")).json()["items"]
        assert [project["slug"] for project in projects] == ["default"]
