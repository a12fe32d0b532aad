"""One temporary, durable Postgres with the same settings for every system."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import tempfile
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

from penstock.db.embedded.server import EmbeddedServer

SETTINGS: Mapping[str, str] = {
    "fsync": "on",
    "synchronous_commit": "on",
    "full_page_writes": "on",
    "autovacuum": "on",
    "shared_buffers": "512MB",
    "max_wal_size": "8GB",
    "checkpoint_timeout": "30min",
    # Loaded for the pinned workload only: its database switches tracking on, all others run without it.
    "shared_preload_libraries": "pg_stat_statements",
    "pg_stat_statements.track": "none",
}


@contextlib.asynccontextmanager
async def running_server(parent: Path | None = None) -> AsyncIterator[EmbeddedServer]:
    home = Path(tempfile.mkdtemp(prefix="penstock-bench-", dir=parent))
    server = EmbeddedServer(home, SETTINGS)
    try:
        await asyncio.to_thread(server.start)
        yield server
    finally:
        await asyncio.to_thread(server.destroy)
        shutil.rmtree(home, ignore_errors=True)
