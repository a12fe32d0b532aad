"""A lock whose waiters are served by rank, then by arrival: a search overtakes waiting documents."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class PriorityLock:
    """Mutual exclusion with ranks."""

    def __init__(self) -> None:
        self._held = False
        self._arrivals = 0
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []

    @asynccontextmanager
    async def hold(self, rank: int) -> AsyncIterator[None]:
        """Hold the lock for the block; the waiter with the lowest rank is next."""
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
            if ready.done() and not ready.cancelled():  # got the lock at the moment it was cancelled
                self._pass_on()
            raise

    def _pass_on(self) -> None:
        """Pass the lock to the next waiter; it stays held in between, so that no newcomer can take it."""
        while self._waiting:
            *_, ready = heapq.heappop(self._waiting)
            if not ready.done():
                ready.set_result(None)
                return
        self._held = False
