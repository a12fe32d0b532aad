"""One connection of the SDK's client, in a task of its own: its cancel scopes never meet the caller's."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final, TypeVar

from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from penstock.sources.mcp_client.http import LONGEST_ANSWER

if TYPE_CHECKING:
    import httpx2
    from mcp.client.session import ClientSession
    from pydantic import BaseModel

CLOSE_SECONDS: Final = 5.0

R = TypeVar("R", bound="BaseModel")


class ConnectionEnded(Exception):
    """The SDK's client ended by itself while a call waited."""


class McpConnection:
    """Open until `close`; if the SDK fails, calls raise what it raised."""

    def __init__(self, url: str, http: httpx2.AsyncClient, seconds: float) -> None:
        self._url = url
        self._http = http
        self._seconds = seconds
        self._opened = asyncio.Event()
        self._stopping = asyncio.Event()
        self._session: ClientSession | None = None
        self._task = asyncio.create_task(self._run(), name="mcp connection")

    @property
    def is_ended(self) -> bool:
        return self._task.done()

    async def opened(self) -> None:
        """Wait until it can be used; raises what prevents that."""
        waiting = asyncio.create_task(self._opened.wait())
        try:
            await asyncio.wait({self._task, waiting}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            waiting.cancel()
        if not self._opened.is_set():
            self._raise_end()

    async def send(self, request: Any, result_type: type[R], seconds: float) -> R:
        """One request and its result; output schemas are not checked, since servers do not keep to them."""
        if self._task.done() or self._session is None:
            self._raise_end()
        assert self._session is not None
        sending = asyncio.ensure_future(
            self._session.send_request(request, result_type, request_read_timeout_seconds=seconds)
        )
        try:
            await asyncio.wait({sending, self._task}, return_when=asyncio.FIRST_COMPLETED)
            if not sending.done():
                self._raise_end()
            return sending.result()
        finally:
            if not sending.done():
                sending.cancel()  # the SDK tells the server
                await asyncio.wait({sending}, timeout=1)

    async def close(self) -> None:
        self._stopping.set()
        _, left = await asyncio.wait({self._task}, timeout=CLOSE_SECONDS)
        if left:
            self._task.cancel()
            await asyncio.wait({self._task}, timeout=CLOSE_SECONDS)
        if self._task.done() and not self._task.cancelled():
            self._task.exception()  # it was reported by the call that met it

    async def _run(self) -> None:
        transport = streamable_http_client(
            self._url, http_client=self._http, max_sse_event_size=LONGEST_ANSWER
        )
        async with Client(transport, read_timeout_seconds=self._seconds, mode="auto", cache=None) as client:
            self._session = client.session
            self._opened.set()
            await self._stopping.wait()

    def _raise_end(self) -> None:
        if self._task.done() and not self._task.cancelled() and (error := self._task.exception()):
            raise error
        raise ConnectionEnded
