"""The metrics endpoint answers Prometheus and probes, and bounds everybody else."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

import pytest

from penstock.observe import CONTENT_TYPE, Metrics, MetricsServer


async def ask(server: MetricsServer, request: bytes) -> tuple[bytes, bytes]:
    """Head and body of the answer."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(request)
    answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    head, _, body = answer.partition(b"\r\n\r\n")
    return head, body


def serve(server: MetricsServer, talk: Callable[[], Awaitable[None]]) -> None:
    async def main() -> None:
        async with asyncio.timeout(20):
            await server.start()
            try:
                await talk()
            finally:
                await server.stop()

    asyncio.run(main())


def test_metrics_are_served_on_a_free_port() -> None:
    metrics = Metrics("w1")
    metrics.claimed("parse", 3)
    server = MetricsServer(metrics, 0)

    async def talk() -> None:
        assert server.port > 0
        head, body = await ask(server, b"GET /metrics?x=1 HTTP/1.1\r\nHost: a\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200 OK\r\n")
        assert f"Content-Type: {CONTENT_TYPE}".encode() in head
        assert f"Content-Length: {len(body)}".encode() in head
        assert b'job_claimed_total{job_type="parse",worker_id="w1"} 3.0\n' in body

    serve(server, talk)


@pytest.mark.parametrize(
    ("request_line", "status"),
    [
        (b"GET /healthz HTTP/1.1", b"200 OK"),
        (b"HEAD /metrics HTTP/1.1", b"200 OK"),
        (b"GET / HTTP/1.1", b"404 Not Found"),
        (b"POST /metrics HTTP/1.1", b"405 Method Not Allowed"),
        (b"GET /metrics HTTP/2", b"400 Bad Request"),
        (b"\x16\x03\x01 nonsense", b"400 Bad Request"),
    ],
)
def test_each_request_gets_its_status(request_line: bytes, status: bytes) -> None:
    server = MetricsServer(Metrics(), 0)

    async def talk() -> None:
        head, body = await ask(server, request_line + b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 " + status)
        assert bool(body) is not request_line.startswith(b"HEAD")

    serve(server, talk)


def broken() -> bool:
    raise RuntimeError("no")


@pytest.mark.parametrize("healthy", [lambda: False, broken])
def test_an_unhealthy_worker_says_so(healthy: Callable[[], bool]) -> None:
    server = MetricsServer(Metrics(), 0, healthy=healthy)

    async def talk() -> None:
        head, _ = await ask(server, b"GET /healthz HTTP/1.1\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 503 ")

    serve(server, talk)


class BrokenMetrics(Metrics):
    def render(self) -> bytes:
        raise RuntimeError("no")


def test_a_failed_scrape_is_an_error_and_the_server_keeps_running() -> None:
    server = MetricsServer(BrokenMetrics(), 0)

    async def talk() -> None:
        head, _ = await ask(server, b"GET /metrics HTTP/1.1\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 500 ")
        head, _ = await ask(server, b"GET /healthz HTTP/1.1\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200 ")

    serve(server, talk)


def test_a_header_without_end_is_refused() -> None:
    server = MetricsServer(Metrics(), 0)

    async def talk() -> None:
        head, _ = await ask(server, b"GET /metrics HTTP/1.1\r\nX: " + b"x" * 10_000)
        assert head.startswith(b"HTTP/1.1 431 ")

    serve(server, talk)


def test_a_client_that_sends_nothing_is_disconnected() -> None:
    server = MetricsServer(Metrics(), 0, patience=0.05)

    async def talk() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        with suppress(ConnectionResetError):
            assert await reader.read() == b""
        writer.close()

    serve(server, talk)


def test_too_many_clients_are_refused() -> None:
    server = MetricsServer(Metrics(), 0)

    async def talk() -> None:
        held = [await asyncio.open_connection("127.0.0.1", server.port) for _ in range(32)]
        head, _ = await ask(server, b"")
        assert head.startswith(b"HTTP/1.1 503 ")
        for _, writer in held:
            writer.close()

    serve(server, talk)


def test_stop_does_not_wait_for_idle_clients_and_frees_the_port() -> None:
    async def main() -> None:
        async with asyncio.timeout(4):
            server = MetricsServer(Metrics(), 0, patience=60)
            await server.start()
            port = server.port
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            await ask(server, b"GET /healthz HTTP/1.1\r\n\r\n")
            await server.stop()
            await server.stop()
            with pytest.raises(OSError, match=r"."):
                await asyncio.open_connection("127.0.0.1", port)
            writer.close()
            assert reader is not None
            again = MetricsServer(Metrics(), port)
            await again.start()
            assert again.port == port
            await again.stop()

    asyncio.run(main())


def test_a_taken_port_is_an_error() -> None:
    server = MetricsServer(Metrics(), 0)

    async def talk() -> None:
        with pytest.raises(OSError, match="address"):
            await MetricsServer(Metrics(), server.port).start()

    serve(server, talk)
