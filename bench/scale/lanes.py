"""Which tenant's document starts next: starts are shared equally, as the claim of the queue shares them."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Container


class Lanes:
    """One lane per tenant; the one with the fewest starts since it became active is next.

    A job of several documents counts as that many starts, and a lane that was empty gets no credit for it.
    """

    __slots__ = ("_active", "_lanes", "_now", "_seq", "_starts")

    def __init__(self) -> None:
        self._lanes: dict[int, deque[int]] = {}
        self._starts: dict[int, float] = {}
        self._active: list[tuple[float, int, int]] = []
        self._now = 0.0
        self._seq = 0

    def __bool__(self) -> bool:
        return bool(self._active)

    def add(self, tenant: int, job: int) -> bool:
        """Whether the lane was empty."""
        lane = self._lanes.setdefault(tenant, deque())
        lane.append(job)
        if len(lane) > 1:
            return False
        self._starts[tenant] = max(self._starts.get(tenant, 0.0), self._now)
        self._activate(tenant)
        return True

    def take(self, documents: Callable[[int], int], but: Container[int] = ()) -> int | None:
        """The next job, of a tenant that is not in `but`."""
        passed = []
        found = None
        while self._active:
            entry = heapq.heappop(self._active)
            if entry[2] in but:
                passed.append(entry)
                continue
            tenant = entry[2]
            lane = self._lanes[tenant]
            found = lane.popleft()
            self._now = max(self._now, entry[0])
            self._starts[tenant] = entry[0] + documents(found)
            if lane:
                self._activate(tenant)
            break
        for entry in passed:
            heapq.heappush(self._active, entry)
        return found

    def _activate(self, tenant: int) -> None:
        self._seq += 1
        heapq.heappush(self._active, (self._starts[tenant], self._seq, tenant))
