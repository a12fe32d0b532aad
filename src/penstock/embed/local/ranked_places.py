"""Places whose waiters are served by rank, then by arrival: a search overtakes waiting documents."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class RankedPlaces:
    """A semaphore with ranks. Some places are kept for rank 0; a caller may take all of them, to be alone."""

    def __init__(self, places: int, kept: int = 0) -> None:
        self._places = self._free = places
        self._kept = kept
        self._arrivals = 0
        self._waiting: list[tuple[int, int, int, asyncio.Future[None]]] = []

    @asynccontextmanager
    async def hold(self, rank: int, *, alone: bool = False) -> AsyncIterator[None]:
        """Hold one place, or all of them, for the block; the waiter with the lowest rank is next."""
        wanted = self._places if alone else 1
        if (self._waiting and self._waiting[0][0] <= rank) or not self._fits(rank, wanted):
            await self._wait(rank, wanted)
        else:
            self._free -= wanted
        try:
            yield
        finally:
            self._give_back(wanted)

    async def _wait(self, rank: int, wanted: int) -> None:
        ready = asyncio.get_running_loop().create_future()
        self._arrivals += 1
        heapq.heappush(self._waiting, (rank, self._arrivals, wanted, ready))
        self._pass_on()
        try:
            await ready
        except asyncio.CancelledError:
            if ready.done() and not ready.cancelled():  # got its place at the moment it was cancelled
                self._give_back(wanted)
            else:
                self._pass_on()  # those behind it may need less
            raise

    def _give_back(self, places: int) -> None:
        self._free += places
        self._pass_on()

    def _pass_on(self) -> None:
        """Give free places to the first waiters; one that wants more than are free is not overtaken."""
        while self._waiting:
            rank, _, wanted, ready = self._waiting[0]
            if not ready.done():
                if not self._fits(rank, wanted):
                    return
                self._free -= wanted
                ready.set_result(None)
            heapq.heappop(self._waiting)

    def _fits(self, rank: int, wanted: int) -> bool:
        return self._free >= (wanted if rank == 0 or wanted == self._places else wanted + self._kept)
