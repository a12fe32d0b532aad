"""Opens the database for one command: starts the embedded server if needed and leaves it as it was found."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

from penstock.db import Connection
from penstock.db.addresses import Addresses, prepare, resolve
from penstock.db.embedded.server import EmbeddedServer
from penstock.db.migrator import assert_migrated
from penstock.db.reach import reach, reaching
from penstock.errors import DatabaseUnreachable, PenstockError
from penstock.observe import configure
from penstock.settings import Settings

if TYPE_CHECKING:
    from penstock.queue.operations import Operations

T = TypeVar("T")


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a command's coroutine with logging at warning level."""
    try:
        configure("debug" if Settings().log_level == "debug" else "warning", "console")
    except PenstockError:
        work.close()  # or Python warns that it was never awaited
        raise
    return asyncio.run(work)


def has_database(settings: Settings) -> bool:
    """Whether there is a database to look at: with the embedded server not before it has been created."""
    return settings.database_url is not None or (settings.data_dir / "pgdata").exists()


@asynccontextmanager
async def database(
    settings: Settings, *, create: bool = False, leave: bool = True
) -> AsyncIterator[Addresses]:
    """The addresses, with the embedded server running for the duration of the block.

    `create` allows a new cluster to be created; `leave` keeps a server running that was already running
    unused.
    """
    if not create and not has_database(settings):
        raise DatabaseUnreachable(
            f"no database exists in {settings.data_dir.absolute()}",
            "Run penstock migrate, penstock up or penstock ingest PATH to create one,"
            " or set PENSTOCK_DATABASE_URL or PENSTOCK_DATA_DIR",
        )
    stays = False
    if leave and settings.database_url is None:
        stays = await asyncio.to_thread(EmbeddedServer(settings.data_dir).left_running)
    starting = asyncio.ensure_future(asyncio.to_thread(resolve, settings))
    try:
        addresses = await asyncio.shield(starting)
    except asyncio.CancelledError:
        # The thread cannot be cancelled, and the server it starts must not be left running.
        with suppress(PenstockError):
            await _release(await starting, stays=stays)
        raise
    try:
        yield addresses
    finally:
        await _release(addresses, stays=stays)


async def _release(addresses: Addresses, *, stays: bool) -> None:
    if addresses.embedded is not None:
        await asyncio.to_thread(addresses.embedded.release, stop_when_last=not stays)


@asynccontextmanager
async def operations() -> AsyncIterator[Operations]:
    """The operator's queue operations."""
    from penstock.queue.operations import Operations

    async with operator() as connection:
        yield Operations(connection)


@asynccontextmanager
async def operator() -> AsyncIterator[Connection]:
    """The operator's connection to a migrated database; the embedded one is migrated first."""
    async with database(Settings()) as addresses:
        with reaching(addresses.admin):
            if addresses.embedded is not None:
                await prepare(addresses)
        async with reach(addresses.operator, application_name="penstock cli") as connection:
            await assert_migrated(connection, folders=addresses.folders)
            yield connection
