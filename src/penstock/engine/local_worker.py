"""A worker inside a program that waits for documents, as long as no other worker is running."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from penstock.engine.engine import Engine
    from penstock.worker import Worker

NO_WORKER = "No worker is running: documents wait until there is one. Start one with penstock worker."


@dataclass(slots=True)
class LocalWorker:
    """`wanted`: True or False decides; None means: while no other worker is running, if `may_start`."""

    engine: Callable[[], AbstractAsyncContextManager[Engine]]
    served: Callable[[], Awaitable[bool]]
    """Whether a live worker serves documents."""
    may_start: bool
    """Whether one may be started here without being asked for."""
    look_seconds: float
    warn: Callable[[str], None]
    wanted: bool | None = None
    no_worker: str = NO_WORKER
    """What to say if there is none."""
    worker: Worker | None = None
    is_missing: bool = False
    """Whether the last look found no worker, and none may be started here."""
    _opened: AsyncExitStack = field(default_factory=AsyncExitStack)
    _next_look: float = field(default=0.0)
    _warned: bool = field(default=False)

    async def ensure(self) -> None:
        """Start a worker if needed; called repeatedly, it also replaces a worker that has gone."""
        if self.worker is not None or monotonic() < self._next_look:
            return
        self._next_look = monotonic() + self.look_seconds
        self.is_missing = False
        if not self.wanted and await self.served():
            return
        if self.wanted is False or (self.wanted is None and not self.may_start):
            self.is_missing = True
            if not self._warned:
                self._warned = True
                self.warn(self.no_worker)
            return
        engine = await self._opened.enter_async_context(self.engine())
        self.worker = engine.worker()
        await self.worker.start()

    async def stop(self, grace: float | None = None) -> None:
        try:
            if self.worker is not None:
                await self.worker.stop(grace)
        finally:
            await self._opened.aclose()


@asynccontextmanager
async def working(local: LocalWorker) -> AsyncIterator[LocalWorker]:
    """A worker for the duration of the block, unless others work; if interrupted, it hands its tasks back
    at once."""
    try:
        await local.ensure()
        yield local
    except (asyncio.CancelledError, KeyboardInterrupt):
        await local.stop(0.0)
        raise
    except BaseException:
        await local.stop()
        raise
    await local.stop()
