"""The demo's API, in this process on a loopback port: users come back to it, providers notify it."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Final

from penstock.settings import Settings

HOST: Final = "127.0.0.1"


@contextmanager
def loopback_port() -> Iterator[tuple[socket.socket, str]]:
    """A free port that nobody else can take, and its address, which the settings have to name first."""
    from penstock.api import listen

    with listen(HOST, 0) as listening:
        yield listening, f"http://{HOST}:{listening.getsockname()[1]}"


@asynccontextmanager
async def serving_api(settings: Settings, listening: socket.socket) -> AsyncIterator[None]:
    """The whole API for the duration of the block."""
    from penstock.api import create_app, server
    from penstock.engine.engine import Engine

    async with Engine(settings) as engine:
        running = server(create_app(engine, host=HOST), grace_seconds=1)
        serving = asyncio.create_task(running.serve([listening]), name="demo api")
        try:
            yield
        finally:
            running.stop()
            await serving
