"""A Postgres of a test's own, to be stopped and started under running workers."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest

from penstock.db.cluster import Cluster
from penstock.db.connect import connect
from penstock.db.embedded import DATABASE, EmbeddedServer
from penstock.db.logins import create_logins
from penstock.db.migrator import migrate
from tests.plugins.database import Database
from tests.plugins.server import SETTINGS


@dataclass(frozen=True, slots=True)
class ServerOfOwn:
    """Its methods block, as an operator's commands do."""

    server: EmbeddedServer

    @property
    def database(self) -> Database:
        return Database(DATABASE, self.server)

    def stop(self, mode: Literal["fast", "immediate"]) -> None:
        cluster = Cluster.locate(self.server.data_dir)
        done = cluster.run("pg_ctl", "-D", cluster.pgdata, "-m", mode, "-w", "-t", "60", "-s", "stop")
        assert done.returncode == 0, done.stdout

    def start(self) -> None:
        Cluster.locate(self.server.data_dir).launch()


@pytest.fixture
def server_of_own() -> Iterator[ServerOfOwn]:
    folder = Path(tempfile.mkdtemp(prefix="penstock-own-"))
    folder.chmod(0o755)
    server = EmbeddedServer(folder, SETTINGS)
    server.start()
    try:
        asyncio.run(_prepare(server))
        yield ServerOfOwn(server)
    finally:
        server.destroy()
        shutil.rmtree(folder, ignore_errors=True)


async def _prepare(server: EmbeddedServer) -> None:
    connection = await connect(server.url(), application_name="fixture")
    try:
        await migrate(connection)
        await create_logins(connection)
    finally:
        await connection.close()
