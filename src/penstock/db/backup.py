"""Backup and restore by pg_dump and pg_restore: whole or not at all."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import asyncpg

from penstock.db.addresses import Addresses, prepare
from penstock.db.dump_schema import check_dump
from penstock.db.ledger import MigrationLedger
from penstock.db.migrator import assert_migrated
from penstock.db.programs import find_program, for_libpq
from penstock.db.reach import reach
from penstock.db.roles import ROLE_NAMES, ensure_roles
from penstock.db.types import Connection
from penstock.errors import InvalidArgument, ProgramFailed
from penstock.sql import load

TICK_SECONDS = 0.2

Progress = Callable[[int], None]
"""Called with the bytes written so far."""


@dataclass(frozen=True, slots=True)
class DumpSnapshot:
    """The schema version of a dump, and the path, size and hash of every original in it.

    `parameters` counts secrets in it whose ciphertext is in AWS's Parameter Store.
    """

    schema_version: int
    parameters: int
    blobs: tuple[tuple[str, int, str], ...]


LIST_BLOBS = """
  select f.blob_path, f.size_bytes, encode(f.content_sha256, 'hex') as sha256
  from files.file as f
  where f.deleted_at is null
  order by f.blob_path
"""
COUNT_PARAMETERS = "select count(*) from vault.secret as s where s.parameter_name is not null"
STILL_KNOWN = "select f.blob_path from files.file as f where f.deleted_at is null and f.blob_path = any($1)"


async def take_snapshot(addresses: Addresses, file: Path, progress: Progress) -> DumpSnapshot:
    """Dump everything into a new file and list the originals, both as of one moment."""
    async with reach(addresses.admin, application_name="penstock backup") as connection:
        await assert_migrated(connection)
        async with connection.transaction(isolation="repeatable_read", readonly=True):
            with _past_row_security():
                # Row security would silently leave rows out; off, the server raises an error instead.
                await connection.execute("set local row_security = off")
                rows = await connection.fetch(LIST_BLOBS)
                parameters: int = await connection.fetchval(COUNT_PARAMETERS)
            version: int = await connection.fetchval("select internal.schema_version()")
            snapshot: str = await connection.fetchval("select pg_catalog.pg_export_snapshot()")
            await asyncio.to_thread(file.touch, 0o600)
            await _dump(addresses, file, progress, f"--snapshot={snapshot}")
    blobs = tuple((row["blob_path"], row["size_bytes"], row["sha256"]) for row in rows)
    return DumpSnapshot(version, parameters, blobs)


async def still_known(addresses: Addresses, paths: Sequence[str]) -> set[str]:
    """Which of these originals still exist in the database."""
    if not paths:
        return set()
    async with reach(addresses.admin, application_name="penstock backup") as connection:
        with _past_row_security():
            await connection.execute("set row_security = off")
            return {row["blob_path"] for row in await connection.fetch(STILL_KNOWN, list(paths))}


@contextmanager
def _past_row_security() -> Iterator[None]:
    try:
        yield
    except asyncpg.InsufficientPrivilegeError as error:
        raise InvalidArgument(
            "this login is subject to row security, so its backup would be missing rows",
            "PENSTOCK_ADMIN_URL",
            "Use a superuser, or a login with BYPASSRLS that may read every table",
        ) from error


async def back_up(addresses: Addresses, target: Path, *, force: bool, progress: Progress) -> int:
    """Dump everything in pg_dump's custom format and return the size; the file appears once complete."""
    partial = _partial(target, force=force)
    try:
        await _dump(addresses, partial, progress)
        return await asyncio.to_thread(_put, partial, target)
    finally:
        partial.unlink(missing_ok=True)


async def _dump(addresses: Addresses, file: Path, progress: Progress, *options: str) -> None:
    url, environment = for_libpq(addresses.admin)
    program = find_program("pg_dump", addresses)
    command = [
        str(program),
        "--format=custom",
        "--no-password",
        f"--file={file}",
        f"--dbname={url}",
        *options,
    ]
    await _run(command, environment, lambda: progress(file.stat().st_size))


def _partial(target: Path, *, force: bool) -> Path:
    """An empty private file next to the target."""
    if target.exists() and not force:
        raise InvalidArgument(f"{target} exists", "file", "Name another file, or add --force to replace it")
    if not target.parent.is_dir():
        raise InvalidArgument(f"there is no folder {target.parent}", "file", "Create the folder first")
    try:
        descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".partial", dir=target.parent)
    except OSError as error:
        raise InvalidArgument(f"{target} cannot be written: {error.strerror}", "file") from error
    os.close(descriptor)
    return Path(name)


def _put(partial: Path, target: Path) -> int:
    """Rename the finished file after it has been synced to disk."""
    with partial.open("rb") as file:
        os.fsync(file.fileno())
    size = partial.stat().st_size
    partial.replace(target)
    return size


async def restore(addresses: Addresses, source: Path, *, replace: bool = False) -> None:
    """Fill a database from a backup file in one transaction, then migrate it to this version.

    The database must be empty, unless `replace` drops its contents in the same transaction.
    """
    await require_dump(source)
    async with reach(addresses.admin, application_name="penstock restore") as connection:
        schemas = await _check_room(connection, replace=replace)
        await ensure_roles(connection, MigrationLedger({}, {}), load())
    if schemas:
        await _replace(addresses, source, schemas)
    else:
        url, environment = for_libpq(addresses.admin)
        program = find_program("pg_restore", addresses)
        command = [
            str(program),
            "--single-transaction",
            "--exit-on-error",
            "--no-password",
            f"--dbname={url}",
        ]
        await _run([*command, str(source)], environment, lambda: None)
    await prepare(addresses)


async def require_dump(source: Path) -> None:
    """Reject what is no file that this version can restore."""
    if not await asyncio.to_thread(source.is_file):
        raise InvalidArgument(
            f"there is no file {source}", "file", "Name a file that penstock db backup wrote"
        )
    await asyncio.to_thread(check_dump, source)


async def require_room(addresses: Addresses, *, replace: bool) -> None:
    """Reject a database that is not empty or, with `replace`, one that is in use."""
    async with reach(addresses.admin, application_name="penstock restore") as connection:
        await _check_room(connection, replace=replace)


async def contents_of(addresses: Addresses) -> tuple[int, int]:
    """How many tenants and documents a restore would replace; none in a database without our tables."""
    async with reach(addresses.admin, application_name="penstock restore") as connection:
        if await connection.fetchval("select to_regclass('ingest.document')") is None:
            return 0, 0
        row = await connection.fetchrow(
            "select (select count(*) from accounts.tenant where status = 'active') as tenants,"
            " (select count(*) from ingest.document where deleted_at is null) as documents"
        )
    return (0, 0) if row is None else (row["tenants"], row["documents"])


async def _check_room(connection: Connection, *, replace: bool) -> list[str]:
    """Check that the database may be filled and return the schemas to drop first."""
    rows = await connection.fetch(
        """
        select n.nspname
        from pg_catalog.pg_namespace as n
        join pg_catalog.pg_roles as r on r.oid = n.nspowner
        where r.rolname = any($1)
        order by 1
        """,
        list(ROLE_NAMES),
    )
    schemas = [row["nspname"] for row in rows]
    if not schemas:
        return []
    if not replace and await _is_used(connection):
        raise InvalidArgument(
            "the database is not empty",
            "database",
            "Set PENSTOCK_DATA_DIR to an empty folder, or create another database and name that; penstock "
            "restore --force replaces what is in this one",
        )
    others: int = await connection.fetchval(
        """
        select count(*) from pg_catalog.pg_stat_activity as a
        where a.datname = current_database() and a.pid <> pg_backend_pid()
          and a.application_name like 'penstock%'
        """
    )
    if others:
        raise InvalidArgument(
            f"{others} Penstock connections are open to the database that would be replaced",
            "database",
            "Stop the API and the workers first",
        )
    return schemas


async def _is_used(connection: Connection) -> bool:
    """Whether a migrated database holds any tenant or task; migrating alone does not count."""
    if await connection.fetchval("select pg_catalog.to_regclass('accounts.tenant') is null"):
        return True
    with _past_row_security():
        async with connection.transaction(readonly=True):
            await connection.execute("set local row_security = off")
            used: bool = await connection.fetchval(
                "select exists (select from accounts.tenant) or exists (select from queues.task)"
            )
    return used


async def _replace(addresses: Addresses, source: Path, schemas: Sequence[str]) -> None:
    """Drop and fill in one transaction: after a kill in the middle, the old data is still there."""
    url, environment = for_libpq(addresses.admin)
    with tempfile.TemporaryDirectory(prefix="penstock-restore-") as folder:  # has mode 0700
        script = Path(folder, "restore.sql")
        program = find_program("pg_restore", addresses)
        await _run(
            [str(program), "--clean", "--if-exists", f"--file={script}", str(source)], environment, _quiet
        )
        drop = f"set lock_timeout = '30s'; drop schema {', '.join(schemas)} cascade"
        psql = [
            str(find_program("psql", addresses)),
            "-Xq",
            "-v",
            "ON_ERROR_STOP=1",
            "--single-transaction",
            "-w",
        ]
        await _run([*psql, f"--dbname={url}", "-c", drop, "-f", str(script)], environment, _quiet)


def _quiet() -> None:
    """Report no progress."""


async def _run(command: list[str], environment: dict[str, str], tick: Callable[[], None]) -> None:
    """Run a program to its end. It does not outlive us; the end of its stderr is the reason of a failure."""
    child = await asyncio.create_subprocess_exec(
        *command,
        env=environment,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
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
