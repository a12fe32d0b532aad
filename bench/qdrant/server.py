"""A child process with the simulated Qdrant server: `python -m bench.qdrant.server` prints its address."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bench.child import stop_when_parent_hangs_up
from penstock.simulators.qdrant import QdrantSimulator
from penstock.simulators.serving import serving


async def serve() -> None:
    stop = asyncio.Event()
    stop_when_parent_hangs_up(stop)
    simulator = QdrantSimulator()
    try:
        async with serving(simulator.app) as url:
            print(json.dumps({"url": url}), flush=True)
            await stop.wait()
    finally:
        simulator.close()


@asynccontextmanager
async def simulated_server() -> AsyncIterator[str]:
    """Its address, while it runs."""
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-m", __name__, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    assert child.stdin is not None
    assert child.stdout is not None
    try:
        yield json.loads(await child.stdout.readline())["url"]
    finally:
        child.stdin.close()
        await child.wait()


if __name__ == "__main__":
    asyncio.run(serve())
