"""A Unix socket in front of the server's that can close, stall or swallow what passes through it."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from enum import StrEnum
from pathlib import Path
from urllib.parse import parse_qs, quote, urlencode, urlsplit

SOCKET = ".s.PGSQL.5432"


class Mode(StrEnum):
    PASS = "pass"
    CLOSE = "close"
    """Everything open is cut, everything new is refused."""
    DEAF = "deaf"
    """Nothing moves and nobody is told; what was held back flows when it passes again."""
    BLACK_HOLE = "black hole"
    """What is sent disappears. A connection that lost a byte is half open for ever."""


class Proxy:
    """Stands between workers and Postgres; `mode` may change at any moment."""

    def __init__(self, folder: Path, target: Path) -> None:
        self._folder = folder
        self._target = target
        self._mode = Mode.PASS
        self._flowing = asyncio.Event()
        self._flowing.set()
        self._lines: set[_Line] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._cut_after: bytes | None = None

    @property
    def mode(self) -> Mode:
        return self._mode

    @mode.setter
    def mode(self, mode: Mode) -> None:
        self._mode = mode
        if mode is Mode.DEAF:
            self._flowing.clear()
        else:
            self._flowing.set()
        if mode is Mode.CLOSE:
            for line in list(self._lines):
                line.cut()

    def cut_after(self, answer: str) -> None:
        """Cut the line on which the server next says this, instead of passing it on."""
        self._cut_after = answer.encode()

    def url(self, through: str) -> str:
        """The address with this proxy instead of the server."""
        parts = urlsplit(through)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        query |= {"host": str(self._folder), "port": "5432"}
        return parts._replace(query=urlencode(query, quote_via=quote, safe="/")).geturl()

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            if self._mode is Mode.CLOSE:
                writer.transport.abort()
                return
            try:
                there = await asyncio.open_unix_connection(self._target)
            except OSError:
                writer.transport.abort()
                return
            line = _Line((reader, writer), there)
            self._lines.add(line)
            try:
                await asyncio.gather(
                    self._pump(line, reader, there[1]),
                    self._pump(line, there[0], writer),
                    return_exceptions=True,
                )
            finally:
                line.cut()
                self._lines.discard(line)
        except asyncio.CancelledError:
            writer.transport.abort()
        finally:
            self._tasks.discard(task)

    async def _pump(self, line: _Line, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while data := await reader.read(65_536):
                await self._flowing.wait()
                if self._mode is Mode.BLACK_HOLE:
                    line.lost = True
                if self._cut_after is not None and writer is line.here and self._cut_after in data:
                    self._cut_after = None
                    line.cut()
                    return
                if not line.lost:
                    writer.write(data)
                    await writer.drain()
        if line.lost or self._mode is Mode.BLACK_HOLE:
            # A goodbye disappears too: the other side goes on waiting.
            await asyncio.Event().wait()
        await self._flowing.wait()
        line.cut()

    async def end(self) -> None:
        for line in list(self._lines):
            line.cut()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)


class _Line:
    """Both ends of one connection."""

    def __init__(
        self,
        here: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        there: tuple[asyncio.StreamReader, asyncio.StreamWriter],
    ) -> None:
        self.here = here[1]
        self._writers = (here[1], there[1])
        self.lost = False

    def cut(self) -> None:
        for writer in self._writers:
            writer.transport.abort()


@asynccontextmanager
async def proxied(url: str) -> AsyncIterator[Proxy]:
    """A proxy before the server of this address."""
    target = Path(parse_qs(urlsplit(url).query)["host"][0], SOCKET)
    folder = Path(tempfile.mkdtemp(prefix="penstock-proxy-"))
    proxy = Proxy(folder, target)
    server = await asyncio.start_unix_server(proxy.accept, folder / SOCKET)
    try:
        yield proxy
    finally:
        server.close()
        await proxy.end()
        shutil.rmtree(folder)
