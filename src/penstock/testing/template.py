"""The migrated database that the databases of tests are copies of."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from pathlib import Path

from penstock.db import Connection
from penstock.db.logins import create_logins
from penstock.db.migrator import migrate
from penstock.db.sql_folders import SqlFolder, find_folders
from penstock.sql import load
from penstock.testing.blocking import run_blocking
from penstock.testing.databases import DATABASE_PREFIX, connected
from penstock.testing.own_logins import create_test_logins
from penstock.testing.servers import Server

LOCK = 0x70656E73_74657374  # 'penstest'; one process makes the template
TEMPLATE_PREFIX = "penstock_template_"
STALE_SECONDS = 86_400


def make_template(server: Server, sql_dir: Path | None = None) -> str:
    """The name of a migrated database, made by whichever process comes first.

    The users' own folders of SQL (PENSTOCK_SQL_DIR, entry points) are migrated too. On a server of the user's
    own the template stays for the next run; another schema gets another template.
    """
    return run_blocking(_make_template(server, find_folders(sql_dir)))


async def _make_template(server: Server, folders: Sequence[SqlFolder]) -> str:
    name = TEMPLATE_PREFIX + _digest(folders)
    async with connected(server.url("admin")) as admin:
        await admin.execute(f"select pg_catalog.pg_advisory_lock({LOCK})")
        if server.embedded is None:
            await _drop_stale(admin)
        found = await admin.fetchval("select true from pg_catalog.pg_database d where d.datname = $1", name)
        if not found:
            await _build(server, admin, name, folders)
        if server.logins:
            await create_test_logins(admin, server)
    return name


async def _build(server: Server, admin: Connection, name: str, folders: Sequence[SqlFolder]) -> None:
    """Renamed when it is whole: a killed run leaves no half-made template."""
    building = f"{name}_building"
    await admin.execute(f"drop database if exists {building} with (force)")
    await admin.execute(f"create database {building} template template0")
    async with connected(server.url("admin", building)) as connection:
        await migrate(connection, folders=folders)
        if server.embedded is not None:
            await create_logins(connection)
    await admin.execute(f"alter database {building} rename to {name}")
    await admin.execute(f"alter database {name} allow_connections false")


async def _drop_stale(admin: Connection) -> None:
    """Databases of runs that were killed: a day old, and nobody is connected."""
    rows = await admin.fetch(
        "select d.datname from pg_catalog.pg_database d where d.datname like $1"
        " and not exists (select from pg_catalog.pg_stat_activity a where a.datname = d.datname)",
        DATABASE_PREFIX.replace("_", r"\_") + "%",
    )
    for row in rows:
        made_at = str(row["datname"]).removeprefix(DATABASE_PREFIX).partition("_")[0]
        if time.time() - int(made_at, 16) > STALE_SECONDS:
            await admin.execute(f"drop database if exists {row['datname']}")


def _digest(folders: Sequence[SqlFolder]) -> str:
    """Two trees of SQL that differ in any file never share a template."""
    files = [*load().files, *(file for folder in folders for file in folder.tree.files)]
    told = "\n".join(f"{file.path} {file.checksum}" for file in files)
    return hashlib.sha256(told.encode()).hexdigest()[:16]
