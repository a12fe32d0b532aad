"""The worker processes of the demo: real ones, each killed or stopped by its own id, none left behind."""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import suppress
from pathlib import Path

from penstock.db.addresses import Addresses

LEASE_SECONDS = 2
GRACE_SECONDS = 10
COMMAND = ("-m", "penstock", "--ends-with-parent", "worker", "--app", "penstock.cli.demo_app:app")

Worker = asyncio.subprocess.Process


async def start_worker(addresses: Addresses, folder: Path, number: int) -> Worker:
    """One worker with a short lease; its log lies in the folder, its stdin ends when we do."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PENSTOCK_")}
    environment |= {
        "PENSTOCK_DATABASE_URL": addresses.runtime,
        "PENSTOCK_LEASE_SECONDS": str(LEASE_SECONDS),
        "PENSTOCK_BEAT_SECONDS": str(LEASE_SECONDS / 4),
        "PENSTOCK_CONCURRENCY": "4",
    }
    with (folder / f"worker-{number}.log").open("wb") as log:
        return await asyncio.create_subprocess_exec(
            sys.executable,
            *COMMAND,
            cwd=folder,  # away from any .env
            env=environment,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=log,
            start_new_session=True,  # Ctrl-C is ours to pass on
        )


async def stop_workers(workers: list[Worker]) -> None:
    """In order if they can, by force if they cannot."""
    for worker in workers:
        if worker.returncode is None:
            with suppress(ProcessLookupError):
                worker.terminate()
    for worker in workers:
        try:
            await asyncio.wait_for(worker.wait(), GRACE_SECONDS)
        except TimeoutError:
            worker.kill()
            await worker.wait()
