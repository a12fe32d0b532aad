"""A lock whose waiters go by rank, then by arrival: a search passes the documents that wait."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Turns:
    """Held by one at a time."""

    def __init__(self) -> None:
        self._held = False
        self._arrivals = 0
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []

    @asynccontextmanager
    async def turn(self, rank: int) -> AsyncIterator[None]:
        """Wait for a turn; of those that wait the lowest rank is next."""
        if self._held:
            await self._wait(rank)
        self._held = True
        try:
            yield
        finally:
            self._pass_on()

    async def _wait(self, rank: int) -> None:
        ready = asyncio.get_running_loop().create_future()
        self._arrivals += 1
        heapq.heappush(self._waiting, (rank, self._arrivals, ready))
        try:
            await ready
        except asyncio.CancelledError:
            if ready.done() and not ready.cancelled():  # handed the turn in the moment it gave up
                self._pass_on()
            raise

    def _pass_on(self) -> None:
        """Hand the turn to the next; it stays held in between, so that no newcomer slips in."""
        while self._waiting:
            *_, ready = heapq.heappop(self._waiting)
            if not ready.done():
                ready.set_result(None)
                return
        self._held = False
