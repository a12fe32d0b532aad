"""Serves the API: in a process of its own, or beside a worker on the same loop."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import uvicorn

from penstock.api.app import create_app
from penstock.api.connection import BoundedProtocol, ServerConfig
from penstock.api.connection_limits import ConnectionLimits
from penstock.net import h11_patterns
from penstock.product import Product
from penstock.settings import Settings

if TYPE_CHECKING:
    from starlette.types import ASGIApp


def from_environment() -> ASGIApp:
    """An app that opens its own product, for any ASGI server: the factory penstock.api:from_environment."""
    return create_app(Product(Settings()), opens=True)


def listen(host: str, port: int) -> socket.socket:
    """Take the port before anything is said about it; 0 takes a free one. Raises OSError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family, backlog=1_024)


class Server(uvicorn.Server):
    """Runs until `stop()`; signals are its owner's, who has more to close than requests."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    def stop(self) -> None:
        """Answer what is under way and end; called again, end at once."""
        self.force_exit = self.should_exit
        self.should_exit = True


def server(app: ASGIApp, *, grace_seconds: float = 30.0, limits: ConnectionLimits | None = None) -> Server:
    """A server for `await server(app).serve([listen(host, port)])`; logs stay ours."""
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
    return Server(config)
