"""Serves the API: in its own process, or next to a worker on the same event loop."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import uvicorn

from penstock.api.app import create_app
from penstock.api.connection import BoundedProtocol, ServerConfig
from penstock.api.connection_limits import ConnectionLimits
from penstock.engine.engine import Engine
from penstock.net import h11_patterns
from penstock.settings import Settings

if TYPE_CHECKING:
    from starlette.types import ASGIApp


def from_environment() -> ASGIApp:
    """An app that opens its own engine, for any ASGI server: the factory penstock.api:from_environment."""
    return create_app(Engine(Settings()), opens=True)


def listen(host: str, port: int) -> socket.socket:
    """Bind the port before it is announced; 0 picks a free one. Raises OSError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.create_server((host, port), family=family, backlog=1_024)
    # asyncio does this only for sockets whose protocol is named; without it a small response takes 40 ms.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


class HttpServer(uvicorn.Server):
    """Runs until `stop()`; signals are handled by the owner, which has more to close than requests."""

    stopping: Sequence[Callable[[], None]] = ()
    """Called when it stops, to end requests that would go on forever."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    def stop(self) -> None:
        """Finish the current requests and stop; called again, stop at once."""
        self.force_exit = self.should_exit
        self.should_exit = True
        for call in self.stopping:
            call()


def server(
    app: ASGIApp, *, grace_seconds: float = 30.0, limits: ConnectionLimits | None = None
) -> HttpServer:
    """A server for `await server(app).serve([listen(host, port)])`; logging is left to us."""
    h11_patterns.install()
    bounds = (limits or ConnectionLimits()).within_open_files()
    config = ServerConfig(
        app,
        http=BoundedProtocol,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=round(grace_seconds),
        timeout_keep_alive=bounds.idle_seconds,  # type: ignore[arg-type]  # handed to call_later as it is
        ws="none",
    )
    config.limits = bounds
    made = HttpServer(config)
    made.stopping = getattr(getattr(app, "state", None), "stopping", ())
    return made
