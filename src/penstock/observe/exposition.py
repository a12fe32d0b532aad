"""Serves /metrics and /healthz over plain asyncio, for Prometheus and for an orchestrator's probe."""

import asyncio
from collections.abc import Callable
from http import HTTPStatus
from typing import Final

from penstock.observe.logs import get_logger
from penstock.observe.metrics import CONTENT_TYPE, Metrics

_HEADER_BYTES: Final = 8_192
_SECONDS: Final = 5.0
_CONNECTIONS: Final = 32
_TEXT: Final = "text/plain; charset=utf-8"

_log = get_logger(__name__)
_Answer = tuple[HTTPStatus, str, bytes]


class MetricsServer:
    """One response per connection; headers, time and connections are limited. Port 0 picks a free port."""

    def __init__(
        self,
        metrics: Metrics,
        port: int,
        host: str = "127.0.0.1",
        *,
        healthy: Callable[[], bool] = lambda: True,
        patience: float = _SECONDS,
    ) -> None:
        self._metrics = metrics
        self._port = port
        self._host = host
        self._healthy = healthy
        self._patience = patience
        self._server: asyncio.Server | None = None
        self._open: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    @property
    def port(self) -> int:
        """The port it listens on; before `start`, the requested one."""
        if self._server is None or not self._server.sockets:
            return self._port
        return int(self._server.sockets[0].getsockname()[1])

    async def start(self) -> None:
        """Listen; raises OSError when the port is taken."""
        if self._server is None:
            self._server = await asyncio.start_server(
                self._serve, self._host, self._port, limit=_HEADER_BYTES, backlog=_CONNECTIONS
            )

    async def stop(self) -> None:
        """Stop listening and drop open connections."""
        server, self._server = self._server, None
        if server is None:
            return
        server.close()
        serving = dict(self._open)
        for writer in serving.values():
            writer.transport.abort()
        await asyncio.gather(*serving, return_exceptions=True)
        await server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        crowded = len(self._open) >= _CONNECTIONS
        self._open[task] = writer
        try:
            async with asyncio.timeout(self._patience):
                if crowded:
                    await _send(writer, _plain(HTTPStatus.SERVICE_UNAVAILABLE))
                else:
                    await self._converse(reader, writer)
        except (TimeoutError, OSError):
            writer.transport.abort()
        finally:
            self._open.pop(task, None)
            writer.close()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError:
            return
        except asyncio.LimitOverrunError:
            await _send(writer, _plain(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE))
            return
        parts = head.split(b"\r\n", 1)[0].split(b" ")
        if len(parts) != 3 or not parts[2].startswith(b"HTTP/1."):
            await _send(writer, _plain(HTTPStatus.BAD_REQUEST))
        elif parts[0] not in (b"GET", b"HEAD"):
            await _send(writer, _plain(HTTPStatus.METHOD_NOT_ALLOWED))
        else:
            answer = await self._answer(parts[1].split(b"?", 1)[0])
            await _send(writer, answer, with_body=parts[0] == b"GET")

    async def _answer(self, path: bytes) -> _Answer:
        if path == b"/metrics":
            try:
                # In a thread: rendering a thousand job types takes tens of milliseconds.
                return HTTPStatus.OK, CONTENT_TYPE, await asyncio.to_thread(self._metrics.render)
            except Exception as error:  # noqa: BLE001 - a broken scrape must not end the server
                _log.throttled("metrics_failed", error=error)
                return _plain(HTTPStatus.INTERNAL_SERVER_ERROR)
        if path == b"/healthz":
            return _plain(HTTPStatus.OK if self._is_healthy() else HTTPStatus.SERVICE_UNAVAILABLE)
        return _plain(HTTPStatus.NOT_FOUND)

    def _is_healthy(self) -> bool:
        try:
            return self._healthy()
        except Exception as error:  # noqa: BLE001 - a failing check means unhealthy
            _log.throttled("health_check_failed", error=error)
            return False


def _plain(status: HTTPStatus) -> _Answer:
    return status, _TEXT, f"{status.phrase.lower()}\n".encode()


async def _send(writer: asyncio.StreamWriter, answer: _Answer, *, with_body: bool = True) -> None:
    status, kind, body = answer
    lines = [
        f"HTTP/1.1 {status.value} {status.phrase}",
        f"Content-Type: {kind}",
        f"Content-Length: {len(body)}",
        "Cache-Control: no-store",
        "X-Content-Type-Options: nosniff",
        "Connection: close",
    ]
    if status is HTTPStatus.METHOD_NOT_ALLOWED:
        lines.append("Allow: GET, HEAD")
    writer.write("\r\n".join([*lines, "", ""]).encode() + (body if with_body else b""))
    await writer.drain()
