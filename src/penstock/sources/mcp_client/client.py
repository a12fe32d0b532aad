"""Calls the tools of one MCP server for one sync."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

from penstock.net.outbound import check_url
from penstock.sources.mcp_client.http import HttpWatch, open_http

if TYPE_CHECKING:
    from pydantic import BaseModel

    from penstock.sources.mcp_client.connection import McpConnection

R = TypeVar("R", bound="BaseModel")
MOST_TOOL_PAGES: Final = 50
LONGEST_CALL: Final = 300.0


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool returned; `structured` is None for servers that answer with text only."""

    structured: Any = field(repr=False)
    texts: tuple[str, ...] = field(repr=False)
    is_error: bool


class McpClient:
    """Connects at the first call. A dropped session is opened again once per call; other failures raise the
    errors of `penstock.sources.errors`, without the token."""

    def __init__(
        self,
        provider: str,
        binding: str,
        url: str,
        token: str | None,
        *,
        allow_private: bool = False,
        connect_seconds: float = 30.0,
    ) -> None:
        self._provider = provider
        self._binding = binding
        self._url = url
        self._watch = HttpWatch()
        self._http = open_http(token, self._watch, LONGEST_CALL, allow_private=allow_private)
        self._allow_private = allow_private
        self._connect_seconds = connect_seconds
        self._connection: McpConnection | None = None
        self._turn = asyncio.Lock()  # the watch can tell one call's failure only

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()

    @property
    def server_time(self) -> datetime | None:
        """The server's time of its last response."""
        return self._watch.server_time

    async def call(self, tool: str, arguments: Mapping[str, Any], seconds: float) -> ToolResult:
        import mcp_types as types

        params = types.CallToolRequestParams(name=tool, arguments=dict(arguments))
        request = types.CallToolRequest(params=params)
        result = await self._send(tool, request, types.CallToolResult, seconds)
        texts = [getattr(block, "text", None) for block in result.content]
        texts += [
            getattr(block.resource, "text", None)
            for block in result.content
            if isinstance(block, types.EmbeddedResource)
        ]
        kept = tuple(text for text in texts if isinstance(text, str))
        return ToolResult(result.structured_content, kept, bool(result.is_error))

    async def tools(self, seconds: float = 30.0) -> dict[str, Mapping[str, Any]]:
        """The input schema of every tool the server offers."""
        import mcp_types as types

        found: dict[str, Mapping[str, Any]] = {}
        cursor: str | None = None
        for _ in range(MOST_TOOL_PAGES):
            params = types.PaginatedRequestParams(cursor=cursor)
            request = types.ListToolsRequest(params=params)
            page = await self._send("tools/list", request, types.ListToolsResult, seconds)
            found |= {tool.name: tool.input_schema for tool in page.tools}
            cursor = page.next_cursor
            if cursor is None:
                break
        return found

    async def close(self) -> None:
        with suppress(Exception):  # a server that is gone need not hear that we leave
            await self._disconnect()
        await self._http.aclose()

    async def _send(self, what: str, request: Any, result_type: type[R], seconds: float) -> R:
        from penstock.sources.mcp_client.failures import explain, is_dropped

        async with self._turn:
            for is_retry in (False, True):
                self._watch.reset()
                try:
                    connection = await self._connected()
                    self._watch.reset()  # such as the probe's for a protocol that the server lacks
                    return await connection.send(request, result_type, seconds)
                except Exception as error:  # noqa: BLE001  # the SDK raises groups, and errors of its libraries
                    seen = self._watch.failure
                    if not is_retry and is_dropped(error, seen):
                        await self._disconnect()
                        continue
                    explained = explain(self._provider, self._binding, what, error, seen)
                # Outside the except block: the original error, whose request holds the token, is no context.
                if self._connection is not None and self._connection.is_ended:
                    await self._disconnect()
                raise explained
        raise AssertionError("the loop returns or raises")

    async def _connected(self) -> McpConnection:
        from penstock.sources.mcp_client.connection import McpConnection

        if self._connection is None:
            check_url(self._url, allow_private=self._allow_private)  # the SDK would wait instead of failing
            self._connection = McpConnection(self._url, self._http, self._connect_seconds)
            try:
                await self._connection.opened()
            except BaseException:
                await self._disconnect()
                raise
        return self._connection

    async def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()
