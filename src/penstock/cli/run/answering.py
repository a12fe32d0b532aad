"""Checks whether a child process is responsive: the API over HTTP, a worker by a byte per second from its
loop."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from typing import Protocol
from urllib.parse import urlsplit

START_SECONDS = 120.0
"""How long a child may take to start before it counts as unresponsive."""
ASK_SECONDS = 1.0
WAIT_SECONDS = 5.0


class Answers(Protocol):
    """One child; `begun` once it has answered or can be asked."""

    @property
    def begun(self) -> bool: ...

    def forget(self) -> None:
        """A new child is about to start."""

    async def next(self, seconds: float) -> None:
        """Return when it answers; raise OSError, or TimeoutError after this many seconds."""


class PipeAnswers:
    """The child writes to `fd`; we read the other end."""

    def __init__(self) -> None:
        self._ours, self.fd = os.pipe()
        os.set_blocking(self._ours, False)
        self._answered = asyncio.Event()
        self.begun = False
        asyncio.get_running_loop().add_reader(self._ours, self._read)

    def forget(self) -> None:
        self.begun = False

    async def next(self, seconds: float) -> None:
        self._answered.clear()
        async with asyncio.timeout(seconds):
            await self._answered.wait()

    def close(self) -> None:
        asyncio.get_running_loop().remove_reader(self._ours)
        os.close(self._ours)
        os.close(self.fd)

    def _read(self) -> None:
        if os.read(self._ours, 65_536):
            self.begun = True
            self._answered.set()


class HttpAnswers:
    """Requests /healthz from the address the child has printed; any response counts, since a 503 proves a
    live loop."""

    def __init__(self) -> None:
        self.url: str | None = None

    @property
    def begun(self) -> bool:
        return self.url is not None

    def forget(self) -> None:
        self.url = None

    async def next(self, seconds: float) -> None:
        assert self.url is not None
        address = urlsplit(self.url)
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(address.hostname or "", address.hostname)  # noqa: S104
        async with asyncio.timeout(seconds):
            reader, writer = await asyncio.open_connection(host, address.port)
            try:
                writer.write(
                    f"GET /healthz HTTP/1.1\r\nHost: {address.netloc}\r\nConnection: close\r\n\r\n".encode()
                )
                if not await reader.read(1):
                    raise ConnectionResetError
            finally:
                writer.close()


def silent_after(stall_seconds: float) -> float:
    """When a supervisor gives up on a child: later than the child itself, which can log more. 0: never."""
    return stall_seconds * 1.25 + 2.0 if stall_seconds else 0.0


async def watch(answers: Answers, limit: float, clock: Callable[[], float] = monotonic) -> float:
    """Return the seconds of silence once it has not answered for `limit`.

    Only time in which this process ran counts: if both were frozen, the child gets the whole limit again.
    """
    silent = 0.0
    looked_at = clock()
    while True:
        begun = answers.begun
        answered = False
        if begun:
            with suppress(OSError, TimeoutError):
                await answers.next(min(WAIT_SECONDS, limit))
                answered = True
        await asyncio.sleep(ASK_SECONDS)
        now = clock()
        passed, looked_at = now - looked_at, now
        silent = 0.0 if answered or begun != answers.begun else silent + min(passed, 2 * WAIT_SECONDS)
        if silent >= (limit if begun else max(limit, START_SECONDS)):
            return silent
