"""A cluster that is initialised and migrated once per run and copied into the data directories of tests."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeAlias

import pytest

from penstock.db.connect import connect
from penstock.db.embedded.cluster import Cluster
from penstock.db.embedded.server import EmbeddedServer
from penstock.db.embedded.server_files import prepare_data_dir
from penstock.db.embedded.server_user import server_user
from penstock.db.flock import locked
from penstock.db.logins import create_logins
from penstock.db.migrator import migrate
from penstock.testing.shared_server import SETTINGS

PutCluster: TypeAlias = Callable[[Path], None]


@pytest.fixture
def put_cluster(server: EmbeddedServer) -> PutCluster:
    """Give an empty data directory what `penstock migrate` would make there, in a tenth of the time."""

    def put(data_dir: Path) -> None:
        with locked(server.data_dir / "prepared.lock"):
            prepared = _prepared(server.data_dir / "prepared")
        _copy(prepared, data_dir)

    return put


@pytest.fixture
def put_empty_cluster(server: EmbeddedServer) -> PutCluster:
    """Give an empty data directory what the first start of a server would make there."""

    def put(data_dir: Path) -> None:
        with locked(server.data_dir / "prepared.lock"):
            prepared = _initialised(server.data_dir / "initialised")
        _copy(prepared, data_dir)

    return put


def _initialised(folder: Path) -> EmbeddedServer:
    """The stopped server whose first start has been made, by whichever process comes first."""
    server = EmbeddedServer(folder, SETTINGS)
    if not server.password_file.exists():
        server.start()
        server.stop()
    return server


def _prepared(folder: Path) -> EmbeddedServer:
    """The stopped server with a migrated database, made by whichever process comes first."""
    server = EmbeddedServer(folder, SETTINGS)
    if folder.exists():
        return server
    building = EmbeddedServer(folder.with_name("building"), SETTINGS)
    shutil.rmtree(building.data_dir, ignore_errors=True)  # of a process that failed to; we hold the lock
    _copy(_initialised(folder.with_name("initialised")), building.data_dir)
    building.start()
    try:
        with ThreadPoolExecutor(1) as thread:  # a test that asks for it may run in an event loop
            thread.submit(asyncio.run, _migrate(building)).result()
    finally:
        building.stop()
    building.data_dir.rename(folder)
    return server


async def _migrate(server: EmbeddedServer) -> None:
    connection = await connect(server.url(), application_name="fixture")
    try:
        await migrate(connection)
        await create_logins(connection)
    finally:
        await connection.close()


def _copy(source: EmbeddedServer, data_dir: Path) -> None:
    prepare_data_dir(data_dir, server_user(data_dir / "pgdata"))
    target = Cluster.locate(data_dir).pgdata
    assert not target.exists(), "the data directory has a cluster already"
    pgdata = Cluster.locate(source.data_dir).pgdata
    subprocess.run(["cp", "-a", pgdata, target], check=True)
    shutil.copy2(source.password_file, data_dir)
