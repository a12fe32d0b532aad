"""Calls methods as tools of an MCP server."""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any, Final

from penstock.sources.bindings.binding import Binding, Method
from penstock.sources.bindings.checking import mismatch
from penstock.sources.bindings.page import NotAPage, RecordPage, page_of, start_of
from penstock.sources.bindings.template import fill
from penstock.sources.errors import BindingMismatch, ProviderUnavailable, SourceError
from penstock.sources.mcp_client.client import McpClient, ToolResult
from penstock.sources.mcp_client.json_in_text import NOTHING, json_in
from penstock.sources.responses import CallRejected, HttpFailure, failure_of

_STATUS: Final = re.compile(r"\b(?:HTTP|status(?: code)?)[:= ]{1,3}([45]\d\d)\b", re.IGNORECASE)
_MISSING: Final = ("Unknown tool", "Input validation error", "Invalid arguments")
_LOOKED_AT: Final = 65_536
_LARGE: Final = 1_000_000
_SLICE: Final = 3 * 262_144
"""Base64 is decoded in slices of a multiple of four characters."""


class McpCalls:
    """The tools are compared with the binding before the first call."""

    def __init__(
        self,
        provider: str,
        binding: Binding,
        used: Sequence[Method],
        url: str,
        token: str | None,
        constants: Mapping[str, Any],
        *,
        allow_private: bool,
    ) -> None:
        self._provider = provider
        self._binding = binding
        self._used = used
        self._constants = constants
        self._client = McpClient(provider, binding.name, url, token, allow_private=allow_private)
        self._is_checked = False

    async def page(self, method: Method, values: Mapping[str, Any], cursor: Any) -> RecordPage:
        result = await self._call(method, values, cursor)
        at = self._client.server_time or datetime.now(UTC)
        async for answer in _answers(method, result):
            try:
                page = page_of(method, answer, cursor, at)
            except NotAPage:
                continue  # structured content that is not what the text says
            if page.next is not None and page.next == cursor:
                raise ProviderUnavailable(self._provider, f"{method.what} returned the same page again")
            return page
        raise ProviderUnavailable(self._provider, f"{method.what} returned no records that could be read")

    @asynccontextmanager
    async def content(self, method: Method, values: Mapping[str, Any]) -> AsyncIterator[AsyncIterator[bytes]]:
        result = await self._call(method, values, None)
        found = None
        async for answer in _answers(method, result):
            found = found or (method.content.find(answer) if method.content else None)
        if not isinstance(found, str):
            raise ProviderUnavailable(self._provider, f"{method.what} returned no content")
        yield self._decoded(method, found)

    async def close(self) -> None:
        await self._client.close()

    async def _call(self, method: Method, values: Mapping[str, Any], cursor: Any) -> ToolResult:
        assert method.tool is not None
        if not self._is_checked:
            problem = mismatch(self._used, await self._client.tools())
            if problem is not None:
                raise BindingMismatch(self._provider, self._binding.name, problem)
            self._is_checked = True
        given = {
            **self._constants,
            "page_size": method.page_size,
            **values,
            "cursor": start_of(method, cursor),
        }
        result = await self._client.call(method.tool, fill(method.arguments, given), method.timeout)
        text = "\n".join(result.texts)[:_LOOKED_AT]
        silent = self._binding.error_text
        if result.is_error or (silent is not None and result.structured is None and silent.search(text)):
            raise self._explained(method, text)
        return result

    def _explained(self, method: Method, text: str) -> SourceError:
        """What an error in a tool's text means; the text itself may name people and is not passed on."""
        if text.startswith(_MISSING):
            problem = f"the server does not accept the call of {method.tool}"
            return BindingMismatch(self._provider, self._binding.name, problem)
        found = json_in(text)
        body = found if isinstance(found, dict) else {}
        status = next(_statuses(body), None)
        if status is None and (said := _STATUS.search(text)) is not None:
            status = int(said[1])
        if status is None:
            status = next((each for shown, each in self._binding.errors if shown.search(text)), None)
        if status is None:
            return CallRejected(self._provider, method.what, None)
        return failure_of(self._provider, method.what, HttpFailure(status, {}, json.dumps(body).encode()))

    async def _decoded(self, method: Method, text: str) -> AsyncIterator[bytes]:
        if method.encoding == "text":
            yield text.encode()
            return
        standard = text.translate(str.maketrans("-_", "+/")) if method.encoding == "base64url" else text
        try:
            for start in range(0, len(standard), _SLICE):
                piece = standard[start : start + _SLICE]
                yield base64.b64decode(piece + "=" * (-len(piece) % 4))
        except binascii.Error:
            raise ProviderUnavailable(self._provider, f"{method.what} returned broken base64") from None


async def _answers(method: Method, result: ToolResult) -> AsyncIterator[Any]:
    """What the result may mean: its structured content, then the JSON in its texts."""
    if result.structured is not None:
        yield result.structured
    if sum(map(len, result.texts)) > _LARGE:  # the loop must not wait for it
        read = await asyncio.to_thread(lambda: [json_in(text) for text in result.texts])
    else:
        read = [json_in(text) for text in result.texts]
    found = [value for value in read if value is not NOTHING]
    if method.blocks == "each":
        yield found
    elif found:
        yield found[0]


def _statuses(body: Mapping[str, Any]) -> Iterator[int]:
    error = body.get("error")
    for each in (
        body.get("statusCode"),
        body.get("status"),
        *((error or {}).values() if isinstance(error, dict) else ()),
    ):
        if isinstance(each, int) and 400 <= each <= 599:
            yield each
