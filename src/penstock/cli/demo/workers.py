"""The demo's worker processes: real ones, each killed or stopped by its own id, none left running."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from penstock.db import Connection
from penstock.db.addresses import Addresses
from penstock.errors import InvalidMove
from penstock.queue.operations import Operations
from penstock.sandbox.signals import send

LEASE_SECONDS = 2
GRACE_SECONDS = 10
Worker = asyncio.subprocess.Process


async def start_worker(
    addresses: Addresses, folder: Path, number: int, words: Sequence[str], variables: Mapping[str, str]
) -> Worker:
    """Start a worker with a short lease; its log is in the folder, its stdin ends with us."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PENSTOCK_")}
    environment |= {
        "PENSTOCK_DATABASE_URL": addresses.runtime,
        "PENSTOCK_LEASE_SECONDS": str(LEASE_SECONDS),
        "PENSTOCK_BEAT_SECONDS": str(LEASE_SECONDS / 4),
        **variables,
    }
    with (folder / f"worker-{number}.log").open("wb") as log:
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "penstock", "--ends-with-parent", *words),
            cwd=folder,  # away from any .env
            env=environment,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=log,
            start_new_session=True,  # Ctrl-C is ours to forward
        )


async def until_registered(connection: Connection, workers: Sequence[Worker], folder: Path) -> None:
    """Wait until all are registered in the database; one that exits at once is an error."""
    while len(await Operations(connection).workers()) < len(workers):
        for number, worker in enumerate(workers, 1):
            if worker.returncode is not None:
                remedy = f"Read {folder}/worker-{number}.log"
                raise InvalidMove(f"worker {number} exited at once", None, remedy)
        await asyncio.sleep(0.05)


async def kill_worker(connection: Connection, worker: Worker) -> int:
    """Send SIGKILL, as the kernel does when memory is short; returns how many tasks it held."""
    send(worker, signal.SIGKILL)
    await worker.wait()
    rows = await Operations(connection).workers()
    return sum(row.leases for row in rows if row.worker_name.endswith(f":{worker.pid}"))


async def stop_workers(workers: list[Worker]) -> None:
    """Stop gracefully if possible, by force if not."""
    for worker in workers:
        send(worker, signal.SIGTERM)
    for worker in workers:
        try:
            await asyncio.wait_for(worker.wait(), GRACE_SECONDS)
        except TimeoutError:
            send(worker, signal.SIGKILL)
            await worker.wait()
