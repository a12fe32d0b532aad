"""Moves a tenant's vectors and is killed after some pages: `python -m … URL QDRANT PAGES`."""

from __future__ import annotations

import asyncio
import os
import signal
import sys

from penstock.db.tenancy import TenantPool
from penstock.index import qdrant_move
from penstock.index.qdrant import QdrantIndex


async def main(url: str, address: str, pages: int) -> None:
    qdrant_move.PAGE = 5  # type: ignore[misc]  # of a small tenant
    tenants = await TenantPool.open(url, application_name="mover", size=2)
    index = QdrantIndex.open(address, None, tenants)
    (one,) = await index.mover.old.look()
    seen = 0

    def progress(_: int) -> None:
        nonlocal seen
        seen += 1
        if seen == pages:
            os.kill(os.getpid(), signal.SIGKILL)

    await index.mover.move(one, progress)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
