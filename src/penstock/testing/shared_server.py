"""One embedded server for all processes of a test run, gone with the last of them."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from penstock.db.embedded.server import EmbeddedServer
from penstock.db.flock import FileLock
from penstock.testing.memory_folder import MEMORY, server_folder

SETTINGS: Mapping[str, str] = {
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "on",
    "shared_buffers": "128MB",
    "max_wal_size": "1GB",
    "log_min_messages": "warning",
    "autovacuum_naptime": "1min",
}
"""A test's data need not survive a power cut, and its tables do not live long enough to be vacuumed."""

STALE_SECONDS = 900


@contextmanager
def shared_server(prefix: str) -> Iterator[EmbeddedServer]:
    """The server of this run: pytest-xdist's workers share one, other runs have another."""
    prefix = f"{prefix}{os.getuid()}-"
    _remove_stale(prefix)
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID") or f"{os.getpid()}"
    folder = server_folder() / f"{prefix}{run}"
    # Open, so that a server that runs as another user than root can have its data here.
    folder.mkdir(mode=0o755, exist_ok=True)
    server = EmbeddedServer(folder, SETTINGS)
    server.start()
    try:
        yield server
    finally:
        if server.release(stop_when_last=True):
            server.destroy()
            shutil.rmtree(folder, ignore_errors=True)


def _remove_stale(prefix: str) -> None:
    """Remove what a killed run left: nobody holds it, and it is not a run that is just starting."""
    for folder in (folder for place in {MEMORY, server_folder()} for folder in place.glob(f"{prefix}*")):
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
