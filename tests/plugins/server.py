"""One embedded server for all processes of a test run, gone with the last of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.db.embedded import cluster, server_files
from penstock.db.embedded.postmaster import running_postmaster
from penstock.db.embedded.server import EmbeddedServer
from penstock.testing.shared_server import shared_server

PROGRAMS = "PENSTOCK_TEST_POSTGRES"
"""A variable that names another installation to run the tests on, for example /usr/lib/postgresql/15."""

_shared: list[EmbeddedServer] = []


@pytest.fixture(scope="session")
def server() -> Iterator[EmbeddedServer]:
    if (programs := os.environ.get(PROGRAMS)) is not None:
        use_programs(Path(programs))
    with shared_server("penstock-tests-") as server:
        _shared.append(server)
        yield server


def postmaster_pid() -> int | None:
    """The process of the shared server, if a test has needed it so far."""
    return running_postmaster(_shared[0].data_dir / "pgdata") if _shared else None


def use_programs(install: Path) -> None:
    """Let this process start its servers from another installation than the wheel's."""
    server_files.binaries = lambda user: install
    cluster.LOCALE = ("--locale=C.UTF-8",)  # the wheel's builtin provider came with 17
