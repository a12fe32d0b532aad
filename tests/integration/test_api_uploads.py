"""Uploads over real HTTP: streamed, accepted once, refused with a reason, no trace left when cut off."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.integration.api_server import TEXT, api_server, assert_problem, form
from tests.plugins.database import Database
from tests.plugins.workers import eventually

UPLOAD = "/v1/documents/upload"


def raw_form(*parts: tuple[str, bytes]) -> tuple[bytes, dict[str, str]]:
    body = b"".join(
        b"--XX\r\nContent-Disposition: form-data; %b\r\n\r\n%b\r\n" % (head.encode(), value)
        for head, value in parts
    )
    return body + b"--XX--\r\n", {"Content-Type": "multipart/form-data; boundary=XX"}


FILE = 'name="file"; filename="a.txt"'


async def test_an_upload_is_accepted_and_the_same_content_is_the_same_document(
    database: Database, tmp_path: Path
) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client:
        first = await client.post(UPLOAD, files=form())
        again = await client.post(UPLOAD, files=form(name="other.txt"))
        assert (first.status_code, again.status_code) == (202, 202)
        assert set(first.json()) == {"ingestion_id", "document_id", "created", "skipped", "status"}
        assert (first.json()["created"], again.json()["created"]) == (True, False)
        assert first.json()["document_id"] == again.json()["document_id"]
        assert first.json()["ingestion_id"] != again.json()["ingestion_id"]
        assert server.blob_count() == 1


async def test_the_older_path_answers_with_the_older_names(database: Database, tmp_path: Path) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client:
        answer = await client.post("/document/new/upload", files=form())
        assert answer.status_code == 202
        assert set(answer.json()) == {"ingestion/id", "document/id", "created?"}
        assert answer.json()["created?"] is True


async def test_fields_may_come_before_or_after_the_file(database: Database, tmp_path: Path) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client:
        fields = [
            ('name="external_id"', b"inv-1"),
            ('name="metadata"', json.dumps({"customer": "C-17", "größe": 3}).encode()),
            ('name="pipeline_config"', b'{"chunking": {"size": 128, "overlap": 16}}'),
        ]
        for order, content in (([*fields, (FILE, b"before")], 1), ([(FILE, b"after!"), *fields], 2)):
            if content == 2:
                order[1] = ('name="external_id"', b"inv-2")
            body, headers = raw_form(*order)
            answer = await client.post(UPLOAD, content=body, headers=headers)
            assert answer.status_code == 202, answer.text
            document = (await client.get(f"/v1/documents/{answer.json()['document_id']}")).json()
            assert document["external_id"] == f"inv-{content}"
            assert document["metadata"] == {"customer": "C-17", "größe": 3}
            assert document["pipeline_config"]["chunking"] == {"size": 128, "overlap": 16}
            assert document["filename"] == "a.txt"


async def test_waiting_answers_with_the_settled_document(database: Database, tmp_path: Path) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client:
        answer = await client.post(UPLOAD, params={"wait": 0.1}, files=form())
        assert (answer.status_code, "document" in answer.json()) == (202, False)
        async with server.working():
            answer = await client.post(UPLOAD, params={"wait": 30}, files=form("Another text.\n"))
            assert answer.status_code == 200, answer.text
            document = answer.json()["document"]
            assert document["status"] == "indexed", document
            assert answer.json()["status"] == "indexed", "the status is the one after the wait"
            again = await client.post(UPLOAD, files=form("Another text.\n"))
            assert (again.json()["skipped"], again.json()["status"]) == (True, "unchanged")


async def test_changed_content_keeps_the_document(database: Database, tmp_path: Path) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client:
        document_id = (await client.post(UPLOAD, files=form())).json()["document_id"]
        path = f"/v1/documents/{document_id}/content"
        by_form = await client.put(path, files=form("Second version.\n"))
        assert by_form.status_code == 202, by_form.text
        assert by_form.json()["document_id"] == document_id
        by_bytes = await client.put(path, content=b"Third version.\n", headers={"Content-Type": "text/plain"})
        assert by_bytes.status_code == 202, by_bytes.text
        assert (await client.get(path)).content == b"Third version.\n"
        assert_problem(await client.put(path, content=b""), 422, "body")


async def test_the_original_comes_back_as_a_harmless_download(database: Database, tmp_path: Path) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client:
        page = b"<html><script>alert(1)</script><p>Hello there, this is a page.</p></html>"
        taken = await client.post(UPLOAD, files=form(page, 'a"ü.html', "text/html"))
        answer = await client.get(f"/v1/documents/{taken.json()['document_id']}/content")
        assert answer.content == page
        assert answer.headers["content-disposition"].startswith("attachment; ")
        assert "%C3%BC" in answer.headers["content-disposition"]
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "sandbox" in answer.headers["content-security-policy"]
        assert int(answer.headers["content-length"]) == len(page)


FILE_OPENS = b'--XX\r\nContent-Disposition: form-data; name="file"; filename="abcdef"\r\n\r\n'
WHOLE_FORM = FILE_OPENS + b"a\r\n--XX--\r\n"


@pytest.mark.parametrize("begins", [FILE_OPENS, WHOLE_FORM])
async def test_too_large_is_refused_while_it_streams(
    begins: bytes, database: Database, tmp_path: Path
) -> None:
    async with api_server(database, tmp_path) as server:
        _, key = await server.another_tenant("small", max_upload_bytes=100_000)
        host, port = server.url.removeprefix("http://").split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        head = (
            f"POST {UPLOAD} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {key}\r\n"
            "Content-Type: multipart/form-data; boundary=XX\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        writer.write(head.encode() + b"%x\r\n%b\r\n" % (len(begins), begins))
        answering = asyncio.create_task(reader.read(65_536))
        sent = 0
        with suppress(ConnectionError):
            while sent < 50_000_000:
                writer.write(b"10000\r\n" + b"x" * 65_536 + b"\r\n")
                await writer.drain()
                sent += 65_536
        try:
            assert sent < 50_000_000
            answer = await answering
            assert answer.startswith(b"HTTP/1.1 413 "), answer
            assert b"application/problem+json" in answer
        finally:
            answering.cancel()
            writer.transport.abort()

        async with server.client(key) as client:
            assert_problem(await client.post(UPLOAD, files=form(b"x" * 150_000)), 413, "file")
        assert await server.count("ingest.document") == 0


BAD_FORMS: list[tuple[list[tuple[str, bytes]], int, str]] = [
    ([('name="project"', b"default")], 422, "file"),
    ([(FILE, b"a"), (FILE, b"b")], 422, "file"),
    ([(FILE, b"")], 422, "file"),
    ([(FILE, b"a"), ('name="metadata"', b"[]")], 422, "metadata"),
    ([(FILE, b"a"), ('name="metadata"', b'{"a": "\\u0000"}')], 422, "metadata"),
    ([(FILE, b"a"), ('name="metadata"', b'{"a": "\\ud800"}')], 422, "metadata"),
    ([(FILE, b"a"), ('name="metadata"', b'{"a": "%b"}' % (b"x" * 70_000))], 422, "metadata"),
    ([(FILE, b"a"), ('name="metadata"', b'{"a": NaN}')], 422, "metadata"),
    ([(FILE, b"a"), ('name="metadata"', b"x" * 1_200_000)], 413, "metadata"),
    ([(FILE, b"a"), ('name="external_id"', b"a\0b")], 422, "external_id"),
    ([(FILE, b"a"), ('name="external_id"', b"x" * 600)], 422, "external_id"),
    ([(FILE, b"a"), ('name="project"', b"nowhere")], 404, "project"),
    ([(FILE, b"a"), ('name="project"', b"\0")], 422, "project"),
    ([(FILE, b"a"), ('name="pipeline_config"', b'{"parser": "magic"}')], 422, "pipeline_config.parser"),
    ([(FILE, b"a"), ('name="pipeline_config"', b'{"x": 1}')], 422, "pipeline_config.x"),
    ([(FILE, b"a"), ('name="metdata"', b"{}")], 422, "metdata"),
]


async def test_errors_in_a_form_name_the_field(database: Database, tmp_path: Path) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client:
        for parts, status, field in BAD_FORMS:
            body, headers = raw_form(*parts)
            assert_problem(await client.post(UPLOAD, content=body, headers=headers), status, field)
        assert await server.count("ingest.document") == 0
        assert server.blob_count() == 0


async def test_broken_forms_are_bad_requests(database: Database, tmp_path: Path) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client:
        body, headers = raw_form((FILE, b"hello"))
        for cut in (body[:-8], body[:40], b"", b"nonsense"):
            assert_problem(await client.post(UPLOAD, content=cut, headers=headers), 400, "body")
        bare = {"Content-Type": "multipart/form-data"}
        assert_problem(await client.post(UPLOAD, content=body, headers=bare), 400, "Content-Type")
        assert_problem(await client.post(UPLOAD, json={"file": "x"}), 415, "Content-Type")
        assert await server.count("ingest.document") == 0


async def test_a_client_that_disconnects_in_the_middle_leaves_nothing_behind(
    database: Database, tmp_path: Path
) -> None:
    async with api_server(database, tmp_path) as server:
        host, port = server.url.removeprefix("http://").split(":")
        for size in (1_000, 3_000_000):
            _, writer = await asyncio.open_connection(host, int(port))
            head = (
                f"POST {UPLOAD} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {server.key}\r\n"
                "Content-Type: multipart/form-data; boundary=XX\r\nContent-Length: 9000000\r\n"
                f"Idempotency-Key: k{size}\r\n\r\n"
                '--XX\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n'
            )
            writer.write(head.encode() + b"x" * size)
            await writer.drain()
            await eventually(lambda: server.count("accounts.kept_reply"), what="the request has begun")
            writer.transport.abort()

            async def forgotten() -> bool:
                return await server.count("accounts.kept_reply") == 0

            await eventually(forgotten, what="the request has ended")
        assert await server.count("ingest.document") == 0
        assert await server.count("ingest.ingestion") == 0
        assert server.blob_count() == 0


async def test_an_idempotent_upload_is_done_once(database: Database, tmp_path: Path) -> None:
    async with (
        api_server(database, tmp_path) as server,
        server.client(**{"Idempotency-Key": "k-1"}) as client,
    ):
        first = await client.post(UPLOAD, files=form())
        again = await client.post(UPLOAD, files=form())
        assert (first.status_code, again.status_code) == (202, 202)
        assert again.json() == first.json()
        assert again.headers["idempotent-replayed"] == "true"
        assert await server.count("ingest.ingestion") == 1
        assert_problem(await client.post(UPLOAD, files=form(TEXT + "!")), 422, "Idempotency-Key")
        assert_problem(await client.post("/document/new/upload", files=form()), 422, "Idempotency-Key")
        assert await server.count("ingest.document") == 1


async def test_a_failed_upload_may_use_its_key_again(database: Database, tmp_path: Path) -> None:
    async with (
        api_server(database, tmp_path) as server,
        server.client(**{"Idempotency-Key": "k-2"}) as client,
    ):
        assert_problem(await client.post(UPLOAD, files=form(b"")), 422, "file")
        assert (await client.post(UPLOAD, files=form())).status_code == 202


async def test_a_request_in_progress_is_not_done_twice(database: Database, tmp_path: Path) -> None:
    async with (
        api_server(database, tmp_path) as server,
        server.client(**{"Idempotency-Key": "k-3"}) as client,
    ):
        going = asyncio.Event()
        body, headers = raw_form((FILE, b"slow"))

        async def slowly() -> Any:
            yield body[:50]
            await going.wait()
            yield body[50:]

        first = asyncio.create_task(client.post(UPLOAD, content=slowly(), headers=headers))
        await eventually(lambda: server.count("accounts.kept_reply"), what="the first has begun")
        second = await client.post(UPLOAD, content=body, headers=headers)
        assert_problem(second, 409, "Idempotency-Key")
        assert second.headers["retry-after"] == "1"
        going.set()
        assert (await first).status_code == 202
        third = await client.post(UPLOAD, content=body, headers=headers)
        assert third.json() == (await first).json()


async def test_a_thousand_bytes_at_a_time_or_all_at_once_is_the_same_upload(
    database: Database, tmp_path: Path
) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client:
        content = bytes(range(256)) * 8_000
        body, headers = raw_form((FILE, content))

        async def dripping() -> Any:
            for start in range(0, len(body), 10_001):
                yield body[start : start + 10_001]

        whole = await client.post(UPLOAD, content=body, headers=headers)
        dripped = await client.post(UPLOAD, content=dripping(), headers=headers)
        assert whole.json()["document_id"] == dripped.json()["document_id"]
        answer = await client.get(f"/v1/documents/{whole.json()['document_id']}/content")
        assert answer.content == content
