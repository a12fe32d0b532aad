"""Checks what `penstock up` needs before it starts anything, so that an error says what to type."""

from __future__ import annotations

import errno
import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from penstock.db.flock import FileLock
from penstock.db.private_files import ensure_private_dir, write_private
from penstock.errors import AlreadyRunning, DatabaseUnreachable, PortTaken, SettingInvalid
from penstock.settings import Settings


def assert_port_free(host: str, port: int) -> None:
    """Raise PortTaken now rather than after Postgres has started; the child listens later."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        socket.create_server((host, port), family=family).close()
    except OSError as error:
        raise port_refused(host, port, error) from error


def port_refused(host: str, port: int, error: OSError) -> PortTaken:
    """A socket error about a port as an error that says what to type."""
    reason = "another program uses it" if error.errno == errno.EADDRINUSE else (error.strerror or str(error))
    return PortTaken(host, port, reason)


def assert_index_is_shared(settings: Settings, processes: int) -> None:
    """Qdrant's local mode locks its folder for one process; an API and a worker are two."""
    address = settings.qdrant_url
    if settings.index != "qdrant" or address is None or processes < 2:
        return
    if not address.startswith(("http://", "https://")):
        raise SettingInvalid(
            "PENSTOCK_QDRANT_URL",
            f"{address} is a folder, which only one process can open, and this command starts {processes}."
            " Run a Qdrant server and set its address (http://…), or use PENSTOCK_INDEX=pgvector",
        )


def assert_console_is_local(settings: Settings, host: str) -> None:
    """Refuse now what the API would refuse once Postgres has started."""
    if settings.console_auth == "off":
        from penstock.api.console_auth import assert_loopback

        assert_loopback(settings, host)


@contextmanager
def only_one(data_dir: Path) -> Iterator[Path]:
    """Hold the folder's lock during the block, with the file to write our address to."""
    ensure_private_dir(data_dir)
    lock, told = FileLock(data_dir / "up.lock"), data_dir / "up.json"
    if not lock.try_take():
        facts: dict[str, object] = {}
        with suppress(OSError, ValueError):
            facts = json.loads(told.read_text())
        raise AlreadyRunning(data_dir.absolute(), facts.get("pid"), facts.get("url"))
    try:
        note_address(told, None)
        yield told
    finally:
        told.unlink(missing_ok=True)
        lock.release()


def note_address(told: Path, url: str | None) -> None:
    """Record our address, so that a second `penstock up` in this folder can name it."""
    write_private(told, json.dumps({"pid": os.getpid(), "url": url}))


def unreachable(settings: Settings, error: DatabaseUnreachable) -> DatabaseUnreachable:
    """The same error with one more remedy, unless the server is our own."""
    if settings.database_url is None:
        return error
    return DatabaseUnreachable(
        error.reason, f"{error.remedy}; without it, penstock up starts its own Postgres"
    )
