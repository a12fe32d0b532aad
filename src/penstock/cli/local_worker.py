"""A worker inside a command that waits for documents, for as long as nobody else works on them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING

from penstock.cli.failures import warn
from penstock.cli.product_session import Stay
from penstock.product.queues import INGEST

if TYPE_CHECKING:
    from penstock.product import Product
    from penstock.worker import Worker


@dataclass(slots=True)
class LocalWorker:
    """`wanted`: True and False decide; None means on a server of our own, while no other worker is alive."""

    here: Stay
    wanted: bool | None = None
    worker: Worker | None = None
    _product: Product | None = None
    _next_look: float = field(default=0.0)
    _warned: bool = field(default=False)

    async def ensure(self) -> None:
        """Start one if need be; called again and again it also stands in for a worker that went away."""
        if self.worker is not None or monotonic() < self._next_look:
            return
        self._next_look = monotonic() + self.here.product.settings.lease_seconds
        if not self.wanted and await self.here.served(INGEST):
            return
        own = self.here.addresses.embedded is not None
        if self.wanted is False or (self.wanted is None and not own):
            if not self._warned:
                self._warned = True
                warn("No worker is alive: documents wait until there is one. penstock worker starts one.")
            return
        from penstock.product import Product

        self._product = Product(self.here.product.settings)
        await self._product.open()
        self.worker = self._product.worker()
        await self.worker.start()

    async def stop(self, grace: float | None = None) -> None:
        try:
            if self.worker is not None:
                await self.worker.stop(grace)
        finally:
            if self._product is not None:
                await self._product.close()


@asynccontextmanager
async def working(here: Stay, wanted: bool | None) -> AsyncIterator[LocalWorker]:
    """A worker while the block runs, unless others work; cut short, it hands back at once what it holds."""
    local = LocalWorker(here, wanted)
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
