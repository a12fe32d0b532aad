"""Reads a response body up to a size limit and a deadline."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

import httpx2

from penstock.net.errors import ResponseRefused


class BoundedStream(httpx2.AsyncByteStream):
    """A response body up to its limits; a compressed one is not read at all."""

    def __init__(
        self,
        stream: httpx2.AsyncByteStream,
        request: httpx2.Request,
        deadline: float,
        max_bytes: int,
        *,
        encoded: bool,
    ) -> None:
        self._stream = stream
        self._request = request
        self._deadline = deadline
        self._max_bytes = max_bytes
        self._encoded = encoded

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if self._encoded:
            raise ResponseRefused(self._request.url.host, "it is compressed although we did not ask for that")
        read = 0
        parts = self._stream.__aiter__()
        while True:
            try:
                async with asyncio.timeout(self._deadline - time.monotonic()):
                    part = await anext(parts, None)
            except TimeoutError as slow:
                raise httpx2.ReadTimeout("the response took too long", request=self._request) from slow
            if part is None:
                return
            read += len(part)
            if read > self._max_bytes:
                raise ResponseRefused(self._request.url.host, f"it is longer than {self._max_bytes} bytes")
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()
