"""Brings a database to this code's schema: numbered migrations once, objects whenever their file changed."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass

import asyncpg

from penstock.db.connect import translated
from penstock.db.ledger import Ledger, forget_object, read_ledger, record_migration, record_object
from penstock.db.objects import ObjectApplier, existing
from penstock.db.roles import ROLES, ensure_roles
from penstock.db.types import Connection
from penstock.errors import DatabaseNewer, IndexNotReady, NotMigrated
from penstock.sql import SqlFile, SqlTree, code_version, load

LOCK = 0x70656E73  # 'pens'; one migration at a time in a database
OWNERS = "security/owners.sql"
INDEX = "security/index.sql"
ATTEMPTS = 20


@dataclass(frozen=True, slots=True)
class MigrationReport:
    """What a call did; all empty when there was nothing to do."""

    migrations: tuple[str, ...]
    objects: tuple[str, ...]
    dropped: tuple[str, ...]
    version: int
    missing_vectors: IndexNotReady | None = None

    @property
    def changed(self) -> bool:
        return bool(self.migrations or self.objects or self.dropped)


@dataclass(frozen=True, slots=True)
class MigrationStatus:
    """How far a database is from the code."""

    database_version: int
    code_version: int
    pending: tuple[str, ...]


async def migrate(connection: Connection, tree: SqlTree | None = None) -> MigrationReport:
    """Apply what is missing, in one transaction under one lock; safe to call from many processes at once."""
    tree = load() if tree is None else tree
    await connection.execute("select pg_catalog.pg_advisory_lock($1)", LOCK)
    try:
        for attempt in range(ATTEMPTS):
            try:
                return await _migrate(connection, tree)
            except asyncpg.PostgresError as error:
                if attempt == ATTEMPTS - 1 or not _collided(error):
                    raise
                await asyncio.sleep(random.uniform(0.02, 0.2))
        raise AssertionError("unreachable")
    finally:
        if not connection.is_closed():
            await connection.execute("select pg_catalog.pg_advisory_unlock($1)", LOCK)


async def status(connection: Connection, tree: SqlTree | None = None) -> MigrationStatus:
    """Compare a database with the code; needs the role that migrates."""
    tree = load() if tree is None else tree
    ledger = await read_ledger(connection)
    ledger.check(tree)
    waiting = [file.path for file in (*ledger.pending(tree), *await _changed(connection, ledger, tree))]
    if not waiting and await _vectors_installed_since(connection):
        waiting.append(INDEX)
    return MigrationStatus(ledger.version, tree.version, (*waiting, *ledger.vanished(tree)))


async def pending(connection: Connection, tree: SqlTree | None = None) -> tuple[str, ...]:
    """The paths `migrate` would apply or drop."""
    return (await status(connection, tree)).pending


async def assert_migrated(connection: Connection, tree: SqlTree | None = None) -> None:
    """Refuse a database older or newer than the code; any runtime role may ask."""
    code = code_version() if tree is None else tree.version
    try:
        found: int = await connection.fetchval("select internal.schema_version()")
    except (asyncpg.InvalidSchemaNameError, asyncpg.UndefinedFunctionError):
        raise NotMigrated(None, code) from None
    if found > code:
        raise DatabaseNewer(found, code)
    if found < code:
        raise NotMigrated(found, code)


async def _migrate(connection: Connection, tree: SqlTree) -> MigrationReport:
    ledger = await read_ledger(connection)
    ledger.check(tree)
    await ensure_roles(connection, ledger, tree)
    async with connection.transaction():
        migrations = ledger.pending(tree)
        for file in migrations:
            await _apply(connection, file)
            await record_migration(connection, file)
        vanished = ledger.vanished(tree)
        changed = await _changed(connection, ledger, tree)
        if migrations or vanished or changed:
            await connection.execute("set local check_function_bodies = off")
            applier = ObjectApplier(connection, tree.objects)
            for path in vanished:
                await applier.drop(path)
                await forget_object(connection, path)
            await applier.apply(file for file in changed if file in tree.objects)
            await _secure(connection, tree)
            for file in (*applier.applied, *tree.security):
                await record_object(connection, file)
            changed += [file for file in applier.applied if file not in changed]
        elif await _vectors_pending(connection):
            await _apply(connection, next(file for file in tree.security if file.path == INDEX))
        vectors = await missing_vectors(connection)
    return MigrationReport(
        migrations=tuple(file.path for file in migrations),
        objects=tuple(file.path for file in changed),
        dropped=tuple(vanished),
        version=tree.version,
        missing_vectors=vectors,
    )


async def missing_vectors(connection: Connection) -> IndexNotReady | None:
    """Why no document can be indexed in this database, with what a superuser has to run; else none."""
    if await connection.fetchval("select pg_catalog.to_regprocedure('ingest.require_vectors()') is null"):
        return None  # a tree without documents
    try:
        async with connection.transaction():
            with translated():
                await connection.execute("select ingest.require_vectors()")
    except IndexNotReady as error:
        return error
    return None


async def _vectors_installed_since(connection: Connection) -> bool:
    """Whether pgvector came after the last migration."""
    installed: bool = await connection.fetchval(
        """
        select pg_catalog.to_regprocedure('ingest.create_vector_tables()') is not null
          and pg_catalog.to_regclass('ingest.chunk_vector') is null
          and exists (select from pg_catalog.pg_extension as e where e.extname = 'vector')
        """
    )
    return installed


async def _vectors_pending(connection: Connection) -> bool:
    """Whether pgvector came after the last migration, or could be created now."""
    pending: bool = await connection.fetchval(
        """
        select pg_catalog.to_regprocedure('ingest.create_vector_tables()') is not null
          and pg_catalog.to_regclass('ingest.chunk_vector') is null
          and exists (select from pg_catalog.pg_available_extensions as a where a.name = 'vector')
        """
    )
    return pending


async def _changed(connection: Connection, ledger: Ledger, tree: SqlTree) -> list[SqlFile]:
    """Files that differ from what was applied, and those whose object a migration dropped."""
    present = await existing(connection, tree.objects)
    changed = set(ledger.changed((*tree.objects, *tree.security)))
    return [file for file in tree.objects if file in changed or file.path not in present] + [
        file for file in tree.security if file in changed
    ]


async def _secure(connection: Connection, tree: SqlTree) -> None:
    """Owners first, then every grant and policy: a replaced object has lost the ones it had."""
    rest = [file for file in tree.security if file.path != ROLES]
    for file in sorted(rest, key=lambda file: (file.path != OWNERS, file.path)):
        await _apply(connection, file)


async def _apply(connection: Connection, file: SqlFile) -> None:
    try:
        await connection.execute(file.text)
    except asyncpg.PostgresError as error:
        error.add_note(f"while applying {file.path}")
        raise


def _collided(error: asyncpg.PostgresError) -> bool:
    """Whether a migration of another database on this server touched the same shared row."""
    if isinstance(error, asyncpg.InternalServerError):
        return "concurrently" in str(error)
    return isinstance(error, asyncpg.DeadlockDetectedError | asyncpg.SerializationError)
