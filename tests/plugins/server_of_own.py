"""A Postgres of a test's own, to be stopped and started under running workers."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest

from penstock.db.embedded.cluster import Cluster
from penstock.db.embedded.server import DATABASE, EmbeddedServer
from penstock.testing.shared_server import SETTINGS
from tests.plugins.database import Database
from tests.plugins.prepared_cluster import PutCluster


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
def server_of_own(put_cluster: PutCluster) -> Iterator[ServerOfOwn]:
    folder = Path(tempfile.mkdtemp(prefix="penstock-own-"))
    folder.chmod(0o755)
    put_cluster(folder)
    server = EmbeddedServer(folder, SETTINGS)
    try:
        server.start()
        yield ServerOfOwn(server)
    finally:
        server.destroy()
        shutil.rmtree(folder, ignore_errors=True)
