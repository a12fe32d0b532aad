"""Takes connections from a pool, and opens another one only if none becomes free in a moment."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from penstock.db.types import Connection, Pool

ENOUGH = 4
"""This many connections are opened without waiting."""
PATIENCE = 0.1
"""Seconds to wait for one of them before another one is opened. A new session needs as long for its first
statements, because it compiles and plans them for itself, and takes that time from the others."""


class PatientPool:
    """A burst of short transactions shares a few warm sessions instead of opening many cold ones."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self._taken = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    @asynccontextmanager
    async def acquire(self) -> AsyncIterator[Connection]:
        if max(ENOUGH, self.pool.get_size()) <= self._taken < self.pool.get_max_size():
            await self._wait()
        self._taken += 1
        try:
            async with self.pool.acquire() as connection:
                yield connection
        finally:
            self._taken -= 1
            self._wake()

    async def _wait(self) -> None:
        freed = asyncio.get_running_loop().create_future()
        self._waiting.append(freed)
        timer = asyncio.get_running_loop().call_later(PATIENCE, _end, freed)
        try:
            await freed
        except asyncio.CancelledError:
            if freed.done() and not freed.cancelled():
                self._wake()  # the turn is the next one's
            raise
        finally:
            timer.cancel()
            if freed in self._waiting:
                self._waiting.remove(freed)

    def _wake(self) -> None:
        while self._waiting:
            freed = self._waiting.popleft()
            if not freed.done():
                freed.set_result(None)
                return


def _end(freed: asyncio.Future[None]) -> None:
    if not freed.done():
        freed.set_result(None)
