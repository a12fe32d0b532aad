"""File ids reserved for blobs, each recorded in the database before its blob is written."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from time import monotonic, time
from uuid import UUID

from penstock.db.tenancy import TenantPool
from penstock.model import TenantId

LARGEST_BATCH = 64
FRESH_SECONDS = 600.0
"""Older intents are no longer used; maintenance abandons them after hours."""
TENANTS = 1000


@dataclass(slots=True)
class Intent:
    """A reserved id; while `used` is false nothing was written and the next upload may use it."""

    file_id: UUID
    recorded: tuple[float, float]
    used: bool = False

    @property
    def path(self) -> str:
        return f"documents/{self.file_id}"

    def is_fresh(self) -> bool:
        # The monotonic clock stops while a laptop sleeps; the wall clock can be set back.
        return all(
            now - then < FRESH_SECONDS for now, then in zip((monotonic(), time()), self.recorded, strict=True)
        )


@dataclass(slots=True)
class _Spare:
    intents: list[Intent] = field(default_factory=list)
    batch: int = 1
    recording: asyncio.Task[None] | None = None


class Intents:
    """A tenant's first upload reserves one id, the next two, then four: one commit serves many uploads."""

    def __init__(self, tenants: TenantPool) -> None:
        self._tenants = tenants
        self._spare: OrderedDict[TenantId, _Spare] = OrderedDict()

    @asynccontextmanager
    async def take(self, tenant_id: TenantId) -> AsyncIterator[Intent]:
        """An id that stays reserved while the block runs."""
        spare = self._spare_of(tenant_id)
        intent = await self._next(tenant_id, spare)
        try:
            yield intent
        finally:
            if not intent.used:
                spare.intents.append(intent)

    async def _next(self, tenant_id: TenantId, spare: _Spare) -> Intent:
        while True:
            while spare.intents:
                intent = spare.intents.pop()
                if intent.is_fresh():
                    if len(spare.intents) < spare.batch // 4:
                        self._refill(tenant_id, spare)  # so that the next uploads need not wait
                    return intent
            # Cancelling one upload must not cancel the reservation that others wait for.
            await asyncio.shield(self._refill(tenant_id, spare))

    def _refill(self, tenant_id: TenantId, spare: _Spare) -> asyncio.Task[None]:
        if spare.recording is None or spare.recording.done():
            spare.recording = asyncio.create_task(self._record(tenant_id, spare))
            spare.recording.add_done_callback(_look)
        return spare.recording

    async def _record(self, tenant_id: TenantId, spare: _Spare) -> None:
        recorded = (monotonic(), time())
        async with self._tenants.transaction(tenant_id) as conn:
            made = await conn.fetchval("select files.make_intents($1)", spare.batch)
        spare.batch = min(spare.batch * 2, LARGEST_BATCH)
        spare.intents += [Intent(file_id, recorded) for file_id in made]

    def _spare_of(self, tenant_id: TenantId) -> _Spare:
        spare = self._spare.setdefault(tenant_id, _Spare())
        self._spare.move_to_end(tenant_id)
        if len(self._spare) > TENANTS:
            self._spare.popitem(last=False)
        return spare


def _look(recording: asyncio.Task[None]) -> None:
    """Retrieve the error of a reservation that no one awaits; the next upload gets its own."""
    if not recording.cancelled():
        recording.exception()
