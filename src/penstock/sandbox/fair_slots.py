"""Decides whose call runs next: a fixed number of slots, shared fairly, plus one for an owner without any."""

from __future__ import annotations

import asyncio
from collections import Counter

Owner = str | None


class FairSlots:
    """`count` concurrent calls for everyone, plus one for an owner without a running call.

    So one owner's slow calls do not block another. A free slot goes to the waiting owner with the fewest
    running calls, then to the least recently served, then to the first in line. So an owner without a running
    call waits for at most one call of each other such owner, however many calls they have waiting. Calls
    without an owner count as one owner's and do not get the extra slot.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._held: Counter[Owner] = Counter()
        self._waiting: list[tuple[Owner, asyncio.Future[None]]] = []
        self._turns = 0
        self._last_turn: dict[Owner, int] = {}
        """For owners that have a slot or wait for one."""

    @property
    def taken(self) -> int:
        return self._held.total()

    @property
    def one_has_all(self) -> bool:
        """Whether one owner's calls occupy every shared slot."""
        return any(count >= self._count for owner, count in self._held.items() if owner is not None)

    async def take(self, owner: Owner) -> None:
        """Wait for a slot; return it with give_back()."""
        if not self._waiting and self._admits(owner):
            self._grant(owner)
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
            if not any(owner == each for each, _ in self._waiting):
                self._last_turn.pop(owner, None)
        self._next()

    def refuse(self, error: Exception) -> None:
        """Raise this error in all waiting calls."""
        waiting, self._waiting = self._waiting, []
        for _, turn in waiting:
            if not turn.done():
                turn.set_exception(error)

    def _grant(self, owner: Owner) -> None:
        self._held[owner] += 1
        self._turns += 1
        self._last_turn[owner] = self._turns

    def _admits(self, owner: Owner) -> bool:
        extra = 1 if owner is not None and not self._held[owner] else 0
        return self.taken < self._count + extra

    def _next(self) -> None:
        while True:
            able = [each for each in self._waiting if self._admits(each[0])]
            if not able:
                return
            # min() takes the first of equals, in order of arrival.
            chosen = min(able, key=lambda each: (self._held[each[0]], self._last_turn.get(each[0], 0)))
            self._waiting.remove(chosen)
            owner, turn = chosen
            if not turn.done():
                self._grant(owner)
                turn.set_result(None)
