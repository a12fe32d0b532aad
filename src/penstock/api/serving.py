"""Serves the API: in a process of its own, or beside a worker on the same loop."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import uvicorn

from penstock.api.app import create_app
from penstock.product import Product
from penstock.settings import Settings

if TYPE_CHECKING:
    from starlette.types import ASGIApp

LONGEST_HEAD = 1_048_576
"""What a request may have before its body: the longest query we take, written in percent signs."""


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


def server(app: ASGIApp, *, grace_seconds: float = 30.0) -> Server:
    """A server for `await server(app).serve([listen(host, port)])`; logs stay ours."""
    return Server(
        uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=round(grace_seconds),
            ws="none",
            h11_max_incomplete_event_size=LONGEST_HEAD,
        )
    )
