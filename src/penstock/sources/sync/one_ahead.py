"""Lets one piece of work run while its caller prepares the next."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from types import TracebackType
from typing import Any, Self


class OneAhead:
    """`start` waits for the piece before; at the end of the block nothing runs any more.

    If the block fails, the piece in progress may still end, so that what was read before is kept; if the
    block is cancelled, so is the piece.
    """

    def __init__(self) -> None:
        self._running: asyncio.Task[None] | None = None

    async def start(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await self.finish()
        except BaseException:
            work.close()
            raise
        self._running = asyncio.create_task(work)

    async def finish(self) -> None:
        """Wait for the piece in progress, and raise what it raised."""
        running, self._running = self._running, None
        if running is None:
            return
        try:
            await running
        except asyncio.CancelledError:
            if not running.done():
                running.cancel()
                await asyncio.wait([running])
            raise

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._running is not None and kind is not None and not issubclass(kind, Exception):
            self._running.cancel()
            await asyncio.wait([self._running])
            self._running = None
            return
        await self.finish()
