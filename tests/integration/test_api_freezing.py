"""The real server is sent what once froze it, and keeps answering others."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import httpx2

from penstock.webhooks.signature import generate_secret, sign
from tests.integration.api_server import ApiServer, api_server
from tests.plugins.database import Database

UPLOAD = "/v1/documents/upload"
LONG = 60_000
PUSH = {
    "public_url": "http://penstock.example",
    "gmail_push_topic": "projects/p/topics/t",
    "gmail_push_service_account": "push@p.iam.gserviceaccount.com",
}


@asynccontextmanager
async def others_are_served(server: ApiServer, what: str) -> AsyncIterator[None]:
    """Ask for /healthz all the while. Server and client share a process here, so what its processor does is
    what an answer waits for, whatever else this machine does."""
    slowest = 0.0
    over = asyncio.Event()

    async def ask() -> None:
        nonlocal slowest
        async with server.client("") as client:
            while not over.is_set():
                began = time.process_time()
                assert (await client.get("/healthz")).status_code == 200
                slowest = max(slowest, time.process_time() - began)

    asking = asyncio.create_task(ask())
    try:
        yield
    finally:
        over.set()
        await asking
    assert slowest < 1, f"{what} kept others waiting for {slowest:.1f} s"


def hostile_headers(server: ApiServer) -> dict[str, dict[str, str]]:
    signed = sign(generate_secret(), "a", datetime.now(UTC), b"a")
    semicolons = 'a;"' + ";" * LONG
    return {
        "Content-Disposition": {**signed, "Content-Disposition": semicolons},
        "Content-Type of a form": {**signed, "Content-Type": f"multipart/form-data; {semicolons}"},
        "Content-Type": {"Content-Type": f"application/json; {semicolons}"},
        "Accept": {"Accept": ",;q=" * (LONG // 4)},
        "Authorization": {"Authorization": "Bearer " + " " * LONG + "a"},
        "Cookie": {"Cookie": 'a="\\' * (LONG // 4)},
        "Idempotency-Key": {"Idempotency-Key": "a" * LONG},
        "X-Request-ID": {"X-Request-ID": "a" * LONG + "!"},
        "webhook-signature": {**signed, "webhook-signature": "v1," * (LONG // 3)},
        "webhook-timestamp": {**signed, "webhook-timestamp": "1" * LONG},
        "Forwarded": {"X-Forwarded-For": "," * LONG, "Range": "bytes=" + "0-," * (LONG // 3)},
        "X-Brain-Secret": {"X-Brain-Secret": "a" * LONG},
        "Host": {"Host": "a." * (LONG // 2)},
    }


HEADS = {
    "spaces and a vertical tab": b"GET / HTTP/1.1\r\nHost: localhost\r\nX:" + b" " * LONG + b"\x0b\r\n\r\n",
    "a chunk's extension": b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n1;"
    + b" " * 200_000
    + b"\nx\r\n",
    "very many headers": b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"a:\r\n" * 60_000 + b"\r\n",
    "very many parameters": b"GET /v1/documents?" + b"a&" * 30_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "a path of percent signs": b"GET /" + b"%" * LONG + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
}
CONTENTS = {
    "comments": b"<!--x-->" * 60 + b"z",
    "line feeds": b"\n" * 8_192 + b"z",
    "brackets": b"[" * 8_192,
    "links": b"[a](" * 2_048,
    "tags": b"<p " * 2_700,
    "declaration": b"<?xml " + b" " * 8_000,
    "zip": (b"PK\x03\x04" + bytes(22) + b"\x13\x00\x00\x00[Content_Types].xml") * 1_300,
}


async def test_hostile_headers_do_not_freeze_the_api(database: Database, tmp_path: Path) -> None:
    settings = {"brain_api_secret": "secret", **PUSH}
    paths = ("/webhook/acme", "/webhooks/outlook", "/webhooks/gmail", UPLOAD, "/v1/search", "/mcp")
    async with api_server(database, tmp_path, **settings) as server, server.client() as client:
        for what, headers in hostile_headers(server).items():
            async with others_are_served(server, what):
                for path in (*paths, "/internal/embed"):
                    answer = await client.post(path, content=b"a", headers=headers)
                    assert 400 <= answer.status_code < 500, (what, path, answer.status_code)


async def test_hostile_bytes_before_any_request_do_not_freeze_the_api(
    database: Database, tmp_path: Path
) -> None:
    async with api_server(database, tmp_path) as server:
        url = httpx2.URL(server.url)
        for what, sent in HEADS.items():
            async with others_are_served(server, what):
                reader, writer = await asyncio.open_connection(url.host, url.port)
                writer.write(sent)
                assert b"HTTP/1.1 4" in await asyncio.wait_for(reader.readline(), 30), what
                writer.close()


async def test_hostile_content_does_not_freeze_the_api(database: Database, tmp_path: Path) -> None:
    async with api_server(database, tmp_path, **PUSH) as server, server.client() as client:
        for what, content in CONTENTS.items():
            for name in ("a.bin", "a.txt"):
                async with others_are_served(server, what):
                    sent = {"file": (name, content, "application/octet-stream")}
                    assert (await client.post(UPLOAD, files=sent)).status_code == 202, what
        deep = b"[" * 1_000_000
        json = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        for path in ("/v1/search", "/v1/projects", "/mcp", "/webhooks/outlook"):
            async with others_are_served(server, f"deep JSON to {path}"):
                answer = await client.post(path, content=deep, headers=json)
                assert 400 <= answer.status_code < 500, (path, answer.status_code)
        async with others_are_served(server, "deep metadata"):
            answer = await client.post(UPLOAD, files={"file": ("a", b"a")}, data={"metadata": "[" * 900_000})
            assert answer.status_code == 422
        for query in ("(" * 4_000, '"' * 4_000, "a:" * 2_000, "%_" * 2_000, "\\" * 4_000):
            async with others_are_served(server, "a query"):
                assert (await client.post("/v1/search", json={"query": query})).status_code == 200
