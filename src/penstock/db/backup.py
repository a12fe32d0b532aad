"""Backup and restore by pg_dump and pg_restore: whole or not at all."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from penstock.db.addresses import Addresses, prepare
from penstock.db.ledger import Ledger
from penstock.db.programs import find_program, for_libpq
from penstock.db.reach import reach
from penstock.db.roles import ensure_roles
from penstock.errors import InvalidArgument, ProgramFailed
from penstock.sql import load

TICK_SECONDS = 0.2

Progress = Callable[[int], None]
"""Called with the bytes written so far."""


async def back_up(addresses: Addresses, target: Path, *, force: bool, progress: Progress) -> int:
    """Dump everything in pg_dump's custom format and return the size; the file appears when it is whole."""
    partial = _partial(target, force=force)
    try:
        url, environment = for_libpq(addresses.admin)
        program = find_program("pg_dump", addresses)
        command = [str(program), "--format=custom", "--no-password", f"--file={partial}", f"--dbname={url}"]
        await _run(command, environment, lambda: progress(partial.stat().st_size))
        return await asyncio.to_thread(_put, partial, target)
    finally:
        partial.unlink(missing_ok=True)


def _partial(target: Path, *, force: bool) -> Path:
    """An empty private file beside the target."""
    if target.exists() and not force:
        raise InvalidArgument(f"{target} exists", "file", "Name another file, or add --force to replace it")
    if not target.parent.is_dir():
        raise InvalidArgument(f"there is no folder {target.parent}", "file", "Make the folder first")
    try:
        descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".partial", dir=target.parent)
    except OSError as error:
        raise InvalidArgument(f"{target} cannot be written: {error.strerror}", "file") from error
    os.close(descriptor)
    return Path(name)


def _put(partial: Path, target: Path) -> int:
    """Give the finished file its name, after it is safe on disk."""
    with partial.open("rb") as file:
        os.fsync(file.fileno())
    size = partial.stat().st_size
    partial.replace(target)
    return size


async def restore(addresses: Addresses, source: Path) -> None:
    """Fill an empty database from such a file, in one transaction, then migrate it to this version."""
    if not await asyncio.to_thread(source.is_file):
        raise InvalidArgument(
            f"there is no file {source}", "file", "Name a file that penstock db backup wrote"
        )
    program = find_program("pg_restore", addresses)
    async with reach(addresses.admin, application_name="penstock restore") as connection:
        if await connection.fetchval("select pg_catalog.to_regnamespace('queues') is not null"):
            raise InvalidArgument(
                "the database is not empty",
                "database",
                "Set PENSTOCK_DATA_DIR to an empty folder, or create another database and name that",
            )
        await ensure_roles(connection, Ledger({}, {}), load())
    url, environment = for_libpq(addresses.admin)
    command = [str(program), "--single-transaction", "--exit-on-error", "--no-password", f"--dbname={url}"]
    await _run([*command, str(source)], environment, lambda: None)
    await prepare(addresses)


async def _run(command: list[str], environment: dict[str, str], tick: Callable[[], None]) -> None:
    """Run a program to its end; it does not outlive us, and the last of its complaint is the reason."""
    child = await asyncio.create_subprocess_exec(
        *command, env=environment, stdin=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE
    )
    assert child.stderr is not None
    complaint = asyncio.create_task(child.stderr.read())
    ended = asyncio.create_task(child.wait())
    try:
        while not (await asyncio.wait([ended], timeout=TICK_SECONDS))[0]:
            tick()
        text = (await complaint).decode(errors="replace").strip()
    finally:
        if child.returncode is None:
            child.kill()
            await ended
        complaint.cancel()
    if child.returncode != 0:
        last = text.splitlines()[-1] if text else f"exit code {child.returncode}"
        raise ProgramFailed(Path(command[0]).name, last.rstrip("."))
