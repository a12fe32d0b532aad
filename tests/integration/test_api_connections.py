"""What a client cannot do to the API: stay without sending, send without end, open too many connections."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import httpx2
import pytest

from penstock.blobs.spool import SpoolBudget
from tests.integration.api_server import ApiServer, api_server, assert_problem, form
from tests.plugins.busy import stretched
from tests.plugins.database import Database
from tests.plugins.workers import eventually

Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]
UPLOAD = "/v1/documents/upload"


async def connect(server: ApiServer) -> Stream:
    url = httpx2.URL(server.url)
    return await asyncio.open_connection(url.host, url.port, limit=1_000_000)


async def answer_to(server: ApiServer, sent: bytes) -> tuple[int, dict[str, str], bytes]:
    """The status, headers and body of what comes back before the server closes."""
    reader, writer = await connect(server)
    try:
        writer.write(sent)
        whole = await asyncio.wait_for(reader.read(), 20)
    finally:
        writer.close()
    head, _, body = whole.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    return int(first.split()[1]), dict(line.lower().split(": ", 1) for line in lines), body


@asynccontextmanager
async def others_are_served(server: ApiServer, *, within: float = 1.0) -> AsyncIterator[None]:
    """Ask for /healthz all the while; no answer may take longer.

    How busy the machine was is known afterwards: the other tests may start just now.
    """
    slowest = 0.0
    before = stretched(within)
    over = asyncio.Event()

    async def ask() -> None:
        nonlocal slowest
        loop = asyncio.get_running_loop()
        async with server.client("") as client:
            while not over.is_set():
                began = loop.time()
                assert (await client.get("/healthz")).status_code == 200
                slowest = max(slowest, loop.time() - began)

    asking = asyncio.create_task(ask())
    try:
        yield
    finally:
        over.set()
        await asking
    assert slowest < max(before, stretched(within))


async def test_500_silent_connections_are_closed_in_time_while_others_are_served(
    database: Database, tmp_path: Path
) -> None:
    limits = {"api_head_seconds": 2.0, "api_body_seconds": 2.0, "api_idle_seconds": 2.0}
    async with api_server(database, tmp_path, **limits) as server:
        # A search with a key, whose body is waited for; without one it is rejected at once.
        search = (
            f"POST /v1/search HTTP/1.1\r\nHost: localhost\r\nX-API-Key: {server.key}\r\n"
            "Content-Type: application/json\r\n"
        ).encode()
        starts = (
            b"",
            b"GET /healthz HT",
            b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Half: ",
            b"POST /v1/search HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{",
            search + b"Content-Length: 1000\r\n\r\n{",
            search + b"Transfer-Encoding: chunked\r\n\r\n5\r\nab",
            b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
            b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\nGET /healthz HT",
            f"POST {UPLOAD} HTTP/1.1\r\nHost: localhost\r\nX-API-Key: {server.key}\r\n"
            "Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 1000\r\n\r\n--x".encode(),
        )
        # Here both sides of 500 connections share one loop: that they are not kept waiting is what is shown.
        async with others_are_served(server, within=5):
            streams = [await connect(server) for _ in range(500)]
            for number, (_, writer) in enumerate(streams):
                writer.write(starts[number % len(starts)])
            # Each ends: after an answer, or without one.
            before, began = stretched(8), time.monotonic()
            async with asyncio.timeout(100):
                for reader, _ in streams:
                    with suppress(ConnectionResetError):  # it was closed before we wrote to it
                        await reader.read()
            assert time.monotonic() - began < max(before, stretched(8))
        for _, writer in streams:
            writer.close()


async def test_sending_slowly_does_not_keep_a_connection_open(database: Database, tmp_path: Path) -> None:
    async with api_server(database, tmp_path, api_head_seconds=1.0, api_body_seconds=1.0) as server:
        for start in (
            b"GET / HTTP/1.1\r\nHost: localhost\r\nX: ",
            b"POST /v1/search HTTP/1.1\r\nHost: localhost\r\nX-API-Key: %b\r\n"
            b"Content-Type: application/json\r\n"
            b"Content-Length: 100000\r\n\r\n" % server.key.encode(),
        ):
            reader, writer = await connect(server)
            writer.write(start)

            async def trickle(to: asyncio.StreamWriter = writer) -> None:
                while not to.is_closing():
                    to.write(b"a")
                    await asyncio.sleep(0.05)

            trickling = asyncio.create_task(trickle())
            answer = await asyncio.wait_for(reader.readuntil(b"}"), stretched(5))
            trickling.cancel()
            writer.close()
            assert b" 408 " in answer
            assert b"application/problem+json" in answer
            assert b"PENSTOCK_API_" in answer


async def test_a_slow_body_above_the_minimum_rate_is_accepted(database: Database, tmp_path: Path) -> None:
    async with (
        api_server(database, tmp_path, api_body_seconds=0.5, api_body_bytes_per_second=1_000) as server,
        server.client() as client,
    ):

        async def pieces() -> AsyncIterator[bytes]:
            yield b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n'
            for _ in range(8):
                await asyncio.sleep(0.25)
                yield b"word " * 200
            yield b"\r\n--x--\r\n"

        kind = {"Content-Type": "multipart/form-data; boundary=x"}
        answer = await client.post(UPLOAD, content=pieces(), headers=kind)
        assert answer.status_code == 202, answer.text


async def test_one_connection_too_many_is_refused_and_a_closed_one_makes_room(
    database: Database, tmp_path: Path
) -> None:
    async with api_server(database, tmp_path, api_connections=5, api_head_seconds=30.0) as server:
        held = [await connect(server) for _ in range(5)]
        request = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
        status, headers, body = await answer_to(server, request)
        assert status == 503
        assert headers["content-type"] == "application/problem+json"
        assert int(headers["retry-after"]) > 0
        assert headers["connection"] == "close"
        problem = json.loads(body)
        assert "PENSTOCK_API_CONNECTIONS" in problem["remedy"]
        assert problem["request_id"] == headers["x-request-id"]
        # Very many too many are answered before they ask.
        flood = [await connect(server) for _ in range(60)]
        assert b" 503 " in await asyncio.wait_for(flood[-1][0].readline(), 5)
        for _, writer in (*held, *flood):
            writer.close()

        async def served() -> bool:
            async with server.client("") as client:
                return (await client.get("/healthz")).status_code == 200

        await eventually(served, what="a request is served")


@pytest.mark.parametrize(
    "extra",
    [b"X: " + b"a" * 70_000 + b"\r\n", b"a:\r\n" * 200, b"a:\r\n" * 60_000, b"X: y\r\n" + b" z\r\n" * 300],
    ids=["bytes", "lines", "very many lines", "folded lines"],
)
async def test_a_head_that_is_too_large_is_refused(extra: bytes, database: Database, tmp_path: Path) -> None:
    async with api_server(database, tmp_path) as server:
        start = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        status, headers, body = await answer_to(server, start + extra + b"\r\n")
        assert status == 431
        assert headers["content-type"] == "application/problem+json"
        assert json.loads(body)["field"] == "head"
        target = b"GET /healthz?%b HTTP/1.1\r\nHost: localhost\r\n\r\n" % (b"q" * 70_000)
        assert (await answer_to(server, target))[0] == 431
        fits = start + b"a:\r\n" * 190 + b"X: " + b"a" * 60_000 + b"\r\n\r\n"
        assert (await answer_to(server, fits))[0] == 200
        first = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
        reader, writer = await connect(server)
        writer.write(first + start + extra + b"\r\n")  # in one packet, behind a request that is in order
        assert b" 431 " in await asyncio.wait_for(reader.read(), 10)
        writer.close()


async def test_the_longest_query_fits_into_the_target(database: Database, tmp_path: Path) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client:
        answer = await client.get("/v1/search", params={"q": "\U0001f30a" * 4_000, "mode": "text"})
        assert answer.status_code == 200, answer.text


async def test_input_that_is_not_http_is_answered_with_a_problem(database: Database, tmp_path: Path) -> None:
    async with api_server(database, tmp_path) as server:
        status, headers, body = await answer_to(server, b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n")
        assert status == 400
        assert headers["content-type"] == "application/problem+json"
        assert json.loads(body)["title"]


async def test_a_client_that_does_not_read_its_response_is_disconnected(
    database: Database, tmp_path: Path
) -> None:
    async with api_server(database, tmp_path, api_body_seconds=1.0) as server, server.client() as client:
        size = 30_000_000
        taken = await client.post(UPLOAD, files=form(b"words " * (size // 6), "big.txt"))
        path = f"/v1/documents/{taken.json()['document_id']}/content"
        reader, writer = await connect(server)
        transport = writer.transport
        writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nX-API-Key: {server.key}\r\n\r\n".encode())
        await reader.read(1)
        assert isinstance(transport, asyncio.Transport)
        transport.pause_reading()
        await asyncio.sleep(3)  # what is awaited is that the other side gives up; it shows when we read on
        transport.resume_reading()
        read = 0
        with suppress(ConnectionError):
            async with asyncio.timeout(10):
                while piece := await reader.read(100_000):
                    read += len(piece)
        assert read < size
        writer.close()


async def test_uploads_share_a_budget_and_release_it_however_they_end(
    database: Database, tmp_path: Path
) -> None:
    sizes = {"max_upload_bytes": 300_000, "spool_bytes": 2_000_000, "spool_bytes_per_tenant": 400_000}
    async with api_server(database, tmp_path, **sizes) as server:
        _, other_key = await server.another_tenant("other")
        go_on = asyncio.Event()

        async def held(size: int) -> AsyncIterator[bytes]:
            whole = _form(b"w" * size)
            yield whole[:-20]
            await go_on.wait()
            yield whole[-20:]

        kind = {"Content-Type": "multipart/form-data; boundary=x"}
        async with server.client() as client, server.client(other_key) as other:
            first = asyncio.create_task(client.post(UPLOAD, content=held(250_000), headers=kind))
            budget = _budget(server)
            await eventually(lambda: budget.held > 249_000, what="the first upload is spooled")
            more = _form(b"w" * 200_000)
            for content in (more, _in_chunks(more)):
                refused = await client.post(UPLOAD, content=content, headers=kind)
                problem = assert_problem(refused, 429)
                assert "PENSTOCK_SPOOL_BYTES_PER_TENANT" in problem["remedy"]
                assert int(refused.headers["retry-after"]) > 0
            assert (await other.post(UPLOAD, files=form(b"w" * 200_000))).status_code == 202
            go_on.set()
            assert (await first).status_code == 202
            for end in (
                client.post(UPLOAD, files=form(b"w" * 400_000)),  # too large
                client.post(UPLOAD, content=b"--x\r\nnonsense", headers=kind),
                client.post(UPLOAD, content=_form(b"w" * 100_000).replace(b"--x--", b""), headers=kind),
                client.post(UPLOAD, files=form(), data={"metadata": "{"}),
            ):
                assert (await end).status_code >= 400
        _, writer = await connect(server)
        writer.write(
            f"POST {UPLOAD} HTTP/1.1\r\nHost: localhost\r\nX-API-Key: {server.key}\r\n"
            "Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 250000\r\n\r\n".encode()
            + _form(b"w" * 200_000)[:-100]
        )
        await eventually(lambda: budget.held > 100_000, what="half an upload is spooled")
        writer.close()
        await eventually(lambda: budget.held == 0, what="the budget is given back")


async def test_the_process_has_a_budget_over_all_tenants(database: Database, tmp_path: Path) -> None:
    sizes = {"max_upload_bytes": 300_000, "spool_bytes": 400_000}
    async with api_server(database, tmp_path, **sizes) as server, server.client() as client:
        budget = _budget(server)
        with budget.share("somebody else") as take:
            take(290_000)
            refused = await client.post(UPLOAD, files=form(b"w" * 100_000))
            problem = assert_problem(refused, 503)
            assert "PENSTOCK_SPOOL_BYTES" in problem["remedy"]
            assert int(refused.headers["retry-after"]) > 0
        assert (await client.post(UPLOAD, files=form(b"w" * 100_000))).status_code == 202


def _budget(server: ApiServer) -> SpoolBudget:
    budget: SpoolBudget = server.api.state.spool_budget
    return budget


def _form(content: bytes) -> bytes:
    before = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n'
    return before + content + b"\r\n--x--\r\n"


async def _in_chunks(content: bytes) -> AsyncIterator[bytes]:
    """Sent so, its length is not announced."""
    for start in range(0, len(content), 10_000):
        yield content[start : start + 10_000]
