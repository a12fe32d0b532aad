"""Serves any ASGI app on a loopback port, on the caller's event loop."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import uvicorn


class _Server(uvicorn.Server):
    """A server that leaves the process's signals alone and reports when it listens."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listening = asyncio.Event()
        self.stopping = asyncio.Event()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.listening.set()

    async def main_loop(self) -> None:
        await self.on_tick(0)
        await self.stopping.wait()  # the parent's loop would poll ten times a second


@asynccontextmanager
async def serving(app: Any, *, host: str = "127.0.0.1", port: int = 0, **options: Any) -> AsyncIterator[str]:
    """The app's URL, such as http://127.0.0.1:40123, for the duration of the block; `options` are
    uvicorn's."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, port), family=family, backlog=2048) as listener:
        # asyncio does this only for sockets whose protocol is named; without it a small response takes 40 ms.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        bound = listener.getsockname()[1]
        server = _Server(
            uvicorn.Config(
                app,
                log_config=None,
                access_log=False,
                ws="none",
                timeout_graceful_shutdown=1,
                **options,
            )
        )
        task = asyncio.create_task(server.serve([listener]), name="simulator")
        listening = asyncio.create_task(server.listening.wait())
        try:
            await asyncio.wait({task, listening}, return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                await task  # its exception says why it never listened
                raise RuntimeError("the app ended before it listened")
            scheme = "https" if options.get("ssl_certfile") else "http"
            yield f"{scheme}://{f'[{host}]' if family == socket.AF_INET6 else host}:{bound}"
        finally:
            listening.cancel()
            server.stopping.set()
            await asyncio.wait({task})
