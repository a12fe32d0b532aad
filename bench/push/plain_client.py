"""A cheap HTTP/1.1 client, so that sending 200 requests a second leaves the processor to the server."""

from __future__ import annotations

import asyncio
from time import perf_counter
from urllib.parse import urlsplit

IDLE_SECONDS = 2.0
"""The server closes idle connections after 5 s."""


class PlainClient:
    """Posts JSON to one path; the connection that was used last is used first."""

    def __init__(self, url: str, path: str) -> None:
        address = urlsplit(url)
        assert address.hostname is not None
        self._host, self._port = address.hostname, address.port or 80
        self._head = f"POST {path} HTTP/1.1\r\nHost: {address.netloc}\r\nContent-Type: application/json\r\n"
        self._idle: list[tuple[float, asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def post(self, body: bytes) -> int:
        """The status of the response."""
        reader, writer = await self._connection()
        writer.write(f"{self._head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        fields = dict(line.split(": ", 1) for line in head.split("\r\n")[1:-2])
        await reader.readexactly(int(fields.get("content-length", 0)))
        if fields.get("connection") == "close":
            writer.close()
        else:
            self._idle.append((perf_counter(), reader, writer))
        return int(head.split(" ", 2)[1])

    async def _connection(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        while self._idle:
            since, reader, writer = self._idle.pop()
            if perf_counter() - since < IDLE_SECONDS and not reader.at_eof():
                return reader, writer
            writer.close()
        return await asyncio.open_connection(self._host, self._port)

    def close(self) -> None:
        for _, _, writer in self._idle:
            writer.close()
        self._idle.clear()
