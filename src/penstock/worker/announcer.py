"""Tells pages that tasks were started or closed: at most twice a second, and only while somebody looks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from time import monotonic
from uuid import UUID

from penstock.model import Lease

SECONDS = 0.5
MOST_TENANTS = 100
"""Of more than these at once, only operators are told; the others see it with their next change."""


class Announcer:
    """Costs a comparison per group of closed leases while nobody looks."""

    def __init__(self, announce: Callable[[list[UUID]], Awaitable[int]], started: Callable[[], int]) -> None:
        self._announce = announce
        self._started = started
        self._seen = 0
        self._watched_until = 0.0
        self._tenants: set[UUID] = set()
        self._closed = False

    @property
    def is_watched(self) -> bool:
        return monotonic() < self._watched_until

    def watched(self, seconds: float) -> None:
        """Somebody looks, for this long."""
        self._watched_until = max(self._watched_until, monotonic() + seconds)

    def closed(self, leases: Iterable[Lease]) -> None:
        if not self.is_watched:
            return
        self._closed = True
        if len(self._tenants) < MOST_TENANTS:
            self._tenants.update(lease.tenant_id for lease in leases if lease.tenant_id is not None)

    async def begin(self) -> None:
        """Ask once whether somebody looks; from then on it is told."""
        self.watched(await self._announce([]))

    async def run_once(self) -> None:
        started = self._started()
        if not self.is_watched or not (self._closed or started != self._seen):
            return
        tenants, self._tenants = self._tenants, set()
        self._closed, self._seen = False, started
        self._watched_until = monotonic() + await self._announce(sorted(tenants)[:MOST_TENANTS])
