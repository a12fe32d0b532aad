"""Migrates a database to a folder of the user's own SQL, after Penstock's own migrations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import asyncpg

from penstock.db.catalogue_rules import broken_rules
from penstock.db.collisions import collided
from penstock.db.ledger import LedgerTables, MigrationLedger
from penstock.db.objects import ObjectApplier, existing
from penstock.db.sql_folders import SqlFolder
from penstock.db.types import Connection
from penstock.errors import SqlFileFailed, SqlFolderInvalid, SqlRulesBroken
from penstock.sql import SqlFile, SqlTree


@dataclass(frozen=True, slots=True)
class FolderReport:
    """What was done for one folder; all empty when there was nothing to do."""

    name: str
    path: str
    origin: str
    version: int
    migrations: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()

    @property
    def changed(self) -> bool:
        return bool(self.migrations or self.objects or self.dropped)


@dataclass(frozen=True, slots=True)
class FolderStatus:
    """How far a database is behind one folder; `path` is None for one applied but not installed."""

    name: str
    path: str | None
    origin: str | None
    database_version: int
    code_version: int | None
    pending: tuple[str, ...]


async def migrate_folder(
    connection: Connection, folder: SqlFolder, rules: Sequence[SqlFile], *, again: bool
) -> FolderReport:
    """Apply what is missing, inside the caller's transaction.

    `rules` are Penstock's files about owners and row security; `again` re-applies the grants unconditionally.
    """
    tables = LedgerTables(connection, folder.name)
    ledger = await tables.read()
    ledger.check(folder.tree, folder)
    await _check_schemas(connection, folder, ledger)
    migrations = ledger.pending(folder.tree)
    for file in migrations:
        await _apply(connection, folder, file)
        await tables.record_migration(file)
    vanished = ledger.vanished(folder.tree)
    changed = await changed_files(connection, ledger, folder.tree)
    if migrations or vanished or changed or again:
        await connection.execute("set local check_function_bodies = off")
        applier = ObjectApplier(connection, folder.tree.objects)
        for path in vanished:
            await applier.drop(path)
            await tables.forget_object(path)
        with _failing(folder, applier):
            await applier.apply(file for file in changed if file in folder.tree.objects)
        await _secure(connection, folder, rules)
        for file in (*applier.applied, *folder.tree.security):
            await tables.record_object(file)
        changed += [file for file in applier.applied if file not in changed]
    return FolderReport(
        name=folder.name,
        path=str(folder.root),
        origin=folder.origin,
        version=folder.tree.version,
        migrations=tuple(file.path for file in migrations),
        objects=tuple(file.path for file in changed),
        dropped=tuple(vanished),
    )


async def folder_status(connection: Connection, folders: Sequence[SqlFolder]) -> tuple[FolderStatus, ...]:
    """The status of each installed folder, and of each the database has that is not installed."""
    found: dict[str, FolderStatus] = {}
    for folder in folders:
        ledger = await LedgerTables(connection, folder.name).read()
        ledger.check(folder.tree, folder)
        waiting = [*ledger.pending(folder.tree), *await changed_files(connection, ledger, folder.tree)]
        paths = (*(file.path for file in waiting), *ledger.vanished(folder.tree))
        found[folder.name] = FolderStatus(
            folder.name, str(folder.root), folder.origin, ledger.version, folder.tree.version, paths
        )
    if await connection.fetchval("select pg_catalog.to_regclass('internal.own_migration') is not null"):
        for row in await connection.fetch(
            "select folder, max(version) as version from internal.own_migration group by folder"
        ):
            absent = FolderStatus(row["folder"], None, None, row["version"], None, ())
            found.setdefault(row["folder"], absent)
    return tuple(found[name] for name in sorted(found))


async def changed_files(connection: Connection, ledger: MigrationLedger, tree: SqlTree) -> list[SqlFile]:
    """Files that differ from what was applied, and those whose object a migration dropped."""
    present = await existing(connection, tree.objects)
    changed = set(ledger.changed((*tree.objects, *tree.security)))
    return [file for file in tree.objects if file in changed or file.path not in present] + [
        file for file in tree.security if file in changed
    ]


async def _check_schemas(connection: Connection, folder: SqlFolder, ledger: MigrationLedger) -> None:
    """Reject a schema that something else created; register those that this folder is about to create."""
    waiting = {file.version for file in ledger.pending(folder.tree)}
    for schema in folder.schemas:
        row = await connection.fetchrow(
            """
            select
              (select s.folder from internal.own_schema s where s.schema_name = $1) as owner,
              exists (select from pg_catalog.pg_namespace n where n.nspname = $1) as is_there
            """,
            schema,
        )
        assert row is not None
        if row["owner"] == folder.name:
            continue
        if row["owner"] is not None or (row["is_there"] and 1 in waiting):
            whose = "" if row["owner"] is None else f", made by the SQL folder {row['owner']}"
            raise SqlFolderInvalid(
                str(folder.root),
                f"the database already has a schema {schema}{whose}",
                "Give your schema another name, or drop the one in the database",
            )
        await connection.execute(
            "insert into internal.own_schema (schema_name, folder) values ($1, $2)", schema, folder.name
        )


async def _secure(connection: Connection, folder: SqlFolder, rules: Sequence[SqlFile]) -> None:
    """Set owners and row security, apply the folder's own grants, then check the result against the rules."""
    for file in rules:
        await connection.execute(file.text)
    for schema in folder.schemas:
        await connection.execute("select internal.take_back_grants($1)", schema)
    for file in folder.tree.security:
        await _apply(connection, folder, file)
    await connection.execute("select internal.forget_processes($1)", folder.schemas)
    if broken := await broken_rules(connection, folder.schemas):
        raise SqlRulesBroken(str(folder.root), broken)


async def _apply(connection: Connection, folder: SqlFolder, file: SqlFile) -> None:
    from penstock.sql.file_rules import code_of

    if not code_of(file.text).strip():
        return  # comments only, which the driver cannot send
    with _failing(folder, file):
        await connection.execute(file.text)


@contextmanager
def _failing(folder: SqlFolder, at: SqlFile | ObjectApplier) -> Iterator[None]:
    """Turn a Postgres error in a user's file into ours, with the file and the line."""
    try:
        yield
    except asyncpg.PostgresError as error:
        file = at.at if isinstance(at, ObjectApplier) else at
        if file is None or collided(error):
            raise
        said = ". ".join(part.rstrip(".") for part in (str(error), error.hint) if part)
        raise SqlFileFailed(folder.path_of(file), _line(file, error), said) from error


def _line(file: SqlFile, error: asyncpg.PostgresError) -> int | None:
    position = getattr(error, "position", None)
    return None if position is None else file.text.count("\n", 0, int(position) - 1) + 1
