"""The demo's own folder and Postgres, empty each time."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from penstock.cli.session import database
from penstock.db.addresses import Addresses
from penstock.db.embedded.server import DATABASE
from penstock.db.flock import FileLock
from penstock.db.reach import reach
from penstock.errors import InvalidMove
from penstock.settings import Settings


@contextmanager
def own_folder() -> Iterator[Path]:
    """The demo's folder, locked during the block."""
    folder = (Settings().data_dir / "demo").absolute()
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / "running")
    if not lock.try_take():
        raise InvalidMove(
            f"a demo is already running in {folder}", None, "Wait for it, or set PENSTOCK_DATA_DIR"
        )
    try:
        yield folder
    finally:
        lock.release()


@asynccontextmanager
async def own_database(folder: Path, **settings: Any) -> AsyncIterator[tuple[Addresses, Settings]]:
    """An empty database on our own server, and the settings that point to it."""
    # Whatever database the environment or .env names, the demo uses its own.
    elsewhere = ("database_url", "admin_url", "operator_url", "listen_url", "blob_url")
    chosen = Settings(_env_file=None, data_dir=folder, **dict.fromkeys(elsewhere), **settings)
    async with database(chosen, create=True, leave=False) as addresses:
        assert addresses.embedded is not None
        async with reach(
            addresses.embedded.url(database="postgres"), application_name="penstock demo"
        ) as line:
            await line.execute(f"drop database if exists {DATABASE} with (force)")
            await line.execute(f"create database {DATABASE}")
        shutil.rmtree(
            folder / "blobs", ignore_errors=True
        )  # of documents that were deleted with the database
        yield addresses, chosen
