"""Migrates a database to this code's schema: numbered migrations once, changed objects again."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass

import asyncpg

from penstock.db.collisions import collided
from penstock.db.connect import translated
from penstock.db.folder_migrator import (
    FolderReport,
    FolderStatus,
    changed_files,
    folder_status,
    migrate_folder,
)
from penstock.db.ledger import LedgerTables
from penstock.db.objects import ObjectApplier, drop_views
from penstock.db.roles import ROLES, ensure_roles
from penstock.db.sql_folders import SqlFolder
from penstock.db.types import Connection
from penstock.errors import DatabaseNewer, IndexNotReady, NotMigrated, SchemaReplaced, SqlFolderInvalid
from penstock.sql import Kind, SqlFile, SqlTree, code_version, load

LOCK = 0x70656E73  # 'pens'; only one migration at a time per database
OWNERS = "security/owners.sql"
VECTORS = "security/vectors.sql"
ROW_SECURITY = "security/row_security.sql"
ATTEMPTS = 20
REPLACED = "pg_catalog.to_regnamespace('all_tenants') is null"
"""A schema from before the migrations were rewritten, as a runtime role sees it: the ledger is closed."""


@dataclass(frozen=True, slots=True)
class MigrationReport:
    """What a migration did; all empty when there was nothing to do."""

    migrations: tuple[str, ...]
    objects: tuple[str, ...]
    dropped: tuple[str, ...]
    version: int
    missing_vectors: IndexNotReady | None = None
    folders: tuple[FolderReport, ...] = ()

    @property
    def changed(self) -> bool:
        own = any(folder.changed for folder in self.folders)
        return own or bool(self.migrations or self.objects or self.dropped)


@dataclass(frozen=True, slots=True)
class MigrationStatus:
    """How far a database is behind the code."""

    database_version: int
    code_version: int
    pending: tuple[str, ...]
    folders: tuple[FolderStatus, ...] = ()

    @property
    def waiting(self) -> tuple[str, ...]:
        """Everything that `migrate` would apply or drop; files of users' folders with their folder."""
        own = (f"{folder.path}/{path}" for folder in self.folders for path in folder.pending)
        return (*self.pending, *own)


async def migrate(
    connection: Connection, tree: SqlTree | None = None, folders: Sequence[SqlFolder] = ()
) -> MigrationReport:
    """Apply what is missing, in one transaction under one lock; safe to call from many processes at once.

    The users' own folders come after Penstock's tree; an error in one of them rolls everything back.
    """
    tree = load() if tree is None else tree
    await connection.execute("select pg_catalog.pg_advisory_lock($1)", LOCK)
    try:
        for attempt in range(ATTEMPTS):
            try:
                return await _migrate(connection, tree, folders)
            except asyncpg.DependentObjectsStillExistError as error:
                if not folders:
                    raise
                raise SqlFolderInvalid(
                    ", ".join(str(folder.root) for folder in folders),
                    f"what depends on Penstock's own keeps it from being upgraded: {error.detail or error}",
                    "Drop that by hand, run penstock migrate, and create it again in a migration of yours",
                ) from error
            except asyncpg.PostgresError as error:
                if attempt == ATTEMPTS - 1 or not collided(error):
                    raise
                await asyncio.sleep(random.uniform(0.02, 0.2))
        raise AssertionError("unreachable")
    finally:
        if not connection.is_closed():
            await connection.execute("select pg_catalog.pg_advisory_unlock($1)", LOCK)


async def status(
    connection: Connection, tree: SqlTree | None = None, folders: Sequence[SqlFolder] = ()
) -> MigrationStatus:
    """Compare a database with the code; needs the role that migrates."""
    tree = load() if tree is None else tree
    ledger = await LedgerTables(connection).read()
    ledger.check(tree)
    changed = await changed_files(connection, ledger, tree)
    waiting = [file.path for file in (*ledger.pending(tree), *changed)]
    if not waiting and await _vectors_installed_since(connection):
        waiting.append(VECTORS)
    return MigrationStatus(
        ledger.version,
        tree.version,
        (*waiting, *ledger.vanished(tree)),
        await folder_status(connection, folders),
    )


async def pending(connection: Connection, tree: SqlTree | None = None) -> tuple[str, ...]:
    """The paths `migrate` would apply or drop."""
    return (await status(connection, tree)).pending


async def assert_migrated(
    connection: Connection, tree: SqlTree | None = None, folders: Sequence[SqlFolder] = ()
) -> None:
    """Reject a database older or newer than the code or one of the folders; works for any runtime role."""
    code = code_version() if tree is None else tree.version
    try:
        found: int = await connection.fetchval("select internal.schema_version()")
    except (asyncpg.InvalidSchemaNameError, asyncpg.UndefinedFunctionError):
        raise NotMigrated(None, code) from None
    if tree is None and await connection.fetchval(f"select {REPLACED}"):
        raise SchemaReplaced
    if found > code:
        raise DatabaseNewer(found, code)
    if found < code:
        raise NotMigrated(found, code)
    if folders:
        versions: dict[str, int] = json.loads(await connection.fetchval("select internal.own_versions()"))
        for folder in folders:
            found, code = versions.get(folder.name, 0), folder.tree.version
            if found > code:
                raise DatabaseNewer(found, code, str(folder.root))
            if found < code:
                raise NotMigrated(found, code, str(folder.root))


async def _migrate(connection: Connection, tree: SqlTree, folders: Sequence[SqlFolder]) -> MigrationReport:
    tables = LedgerTables(connection)
    ledger = await tables.read()
    ledger.check(tree)
    await ensure_roles(connection, ledger, tree)
    async with connection.transaction():
        migrations = ledger.pending(tree)
        others = [file for folder in folders for file in folder.tree.objects]
        if migrations:
            # A user's view must not prevent a migration from changing a table; it is recreated below.
            await drop_views(connection, (file for file in others if file.kind is Kind.VIEW))
        for file in migrations:
            await _apply(connection, file)
            await tables.record_migration(file)
        vanished = ledger.vanished(tree)
        changed = await changed_files(connection, ledger, tree)
        secured = bool(migrations or vanished or changed)
        if secured:
            await connection.execute("set local check_function_bodies = off")
            applier = ObjectApplier(connection, tree.objects, others)
            for path in vanished:
                await applier.drop(path)
                await tables.forget_object(path)
            await applier.apply(file for file in changed if file in tree.objects)
            await _secure(connection, tree)
            for file in (*applier.applied, *tree.security):
                await tables.record_object(file)
            changed += [file for file in applier.applied if file not in changed]
        elif await _vectors_pending(connection):
            await _apply(connection, next(file for file in tree.security if file.path == VECTORS))
        vectors = await missing_vectors(connection)
        rules = [file for file in tree.security if file.path in (OWNERS, ROW_SECURITY)]
        own = [await migrate_folder(connection, folder, rules, again=secured) for folder in folders]
    return MigrationReport(
        migrations=tuple(file.path for file in migrations),
        objects=tuple(file.path for file in changed),
        dropped=tuple(vanished),
        version=tree.version,
        missing_vectors=vectors,
        folders=tuple(own),
    )


async def missing_vectors(connection: Connection) -> IndexNotReady | None:
    """Why documents cannot be indexed in this database and what a superuser has to run; None if they can."""
    if await connection.fetchval("select pg_catalog.to_regprocedure('ingest.require_vectors()') is null"):
        return None  # a test's tree without documents
    try:
        async with connection.transaction():
            with translated():
                await connection.execute("select ingest.require_vectors()")
    except IndexNotReady as error:
        return error
    return None


async def _vectors_installed_since(connection: Connection) -> bool:
    """Whether pgvector was installed after the last migration."""
    installed: bool = await connection.fetchval(
        """
        select pg_catalog.to_regprocedure('ingest.create_vector_tables()') is not null
          and pg_catalog.to_regclass('ingest.chunk_vector') is null
          and exists (select from pg_catalog.pg_extension as e where e.extname = 'vector')
        """
    )
    return installed


async def _vectors_pending(connection: Connection) -> bool:
    """Whether pgvector was installed after the last migration, or could be created now."""
    pending: bool = await connection.fetchval(
        """
        select pg_catalog.to_regprocedure('ingest.create_vector_tables()') is not null
          and pg_catalog.to_regclass('ingest.chunk_vector') is null
          and exists (select from pg_catalog.pg_available_extensions as a where a.name = 'vector')
        """
    )
    return pending


async def _secure(connection: Connection, tree: SqlTree) -> None:
    """Owners first, then rows, triggers, policies and grants: a replaced object has lost its old ones."""
    for file in tree.security:
        if file.path != ROLES:
            await _apply(connection, file)


async def _apply(connection: Connection, file: SqlFile) -> None:
    try:
        await connection.execute(file.text)
    except asyncpg.PostgresError as error:
        error.add_note(f"while applying {file.path}")
        raise
