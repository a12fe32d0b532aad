"""Decides whose call runs next: a fixed number at once, shared fairly, and one more for who has none."""

from __future__ import annotations

import asyncio
from collections import Counter

Owner = str | None


class Seats:
    """`count` calls at once for everybody, and one beyond that for an owner none of whose calls run.

    So one owner's slow calls do not keep another waiting. A seat that becomes free goes to the waiting owner
    with the fewest calls running, among equals to the one who asked first. Calls without an owner count as
    one owner's and do not get the extra seat.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._held: Counter[Owner] = Counter()
        self._waiting: list[tuple[Owner, asyncio.Future[None]]] = []

    @property
    def taken(self) -> int:
        return self._held.total()

    @property
    def one_has_all(self) -> bool:
        """Whether one owner's calls have every seat that is open to everybody."""
        return any(count >= self._count for owner, count in self._held.items() if owner is not None)

    async def take(self, owner: Owner) -> None:
        """Wait for a seat; whoever gets one gives it back."""
        if not self._waiting and self._admits(owner):
            self._held[owner] += 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((owner, turn))
        self._next()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.give_back(owner)
            else:
                self._waiting = [each for each in self._waiting if each[1] is not turn]
            raise

    def give_back(self, owner: Owner) -> None:
        self._held[owner] -= 1
        if not self._held[owner]:
            del self._held[owner]
        self._next()

    def refuse(self, error: Exception) -> None:
        """Tell everybody who waits that there will be no seat."""
        waiting, self._waiting = self._waiting, []
        for _, turn in waiting:
            if not turn.done():
                turn.set_exception(error)

    def _admits(self, owner: Owner) -> bool:
        extra = 1 if owner is not None and not self._held[owner] else 0
        return self.taken < self._count + extra

    def _next(self) -> None:
        while True:
            able = [each for each in self._waiting if self._admits(each[0])]
            if not able:
                return
            chosen = min(able, key=lambda each: self._held[each[0]])  # the first of equals: they are in order
            self._waiting.remove(chosen)
            owner, turn = chosen
            if not turn.done():
                self._held[owner] += 1
                turn.set_result(None)
