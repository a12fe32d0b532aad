"""What a database has already: applied migrations and objects, read from the migrator's ledger."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.db.types import Connection
from penstock.errors import DatabaseNewer, MigrationChanged
from penstock.sql import SqlFile, SqlTree


@dataclass(frozen=True, slots=True)
class Ledger:
    """Checksums of what was applied; `migrations` by version, `objects` by path."""

    migrations: dict[int, tuple[str, str]]
    objects: dict[str, str]

    @property
    def version(self) -> int:
        return max(self.migrations, default=0)

    def check(self, tree: SqlTree) -> None:
        """Refuse a database that newer or different code migrated."""
        if self.version > tree.version:
            raise DatabaseNewer(self.version, tree.version)
        for file in tree.migrations:
            name, checksum = self.migrations.get(file.version, (file.name, file.checksum))
            if (name, checksum) != (file.name, file.checksum):
                raise MigrationChanged(file.path)

    def pending(self, tree: SqlTree) -> list[SqlFile]:
        return [file for file in tree.migrations if file.version not in self.migrations]

    def changed(self, files: tuple[SqlFile, ...]) -> list[SqlFile]:
        return [file for file in files if self.objects.get(file.path) != file.checksum]

    def vanished(self, tree: SqlTree) -> list[str]:
        kept = {file.path for file in (*tree.objects, *tree.security)}
        return sorted(path for path in self.objects if path not in kept)


async def read_ledger(connection: Connection) -> Ledger:
    """Read the ledger; a database without one has nothing applied."""
    if await connection.fetchval("select pg_catalog.to_regclass('internal.applied_object') is null"):
        return Ledger({}, {})
    migrations = await connection.fetch("select version, name, checksum from internal.migration")
    objects = await connection.fetch("select path, checksum from internal.applied_object")
    return Ledger(
        {row["version"]: (row["name"], row["checksum"]) for row in migrations},
        {row["path"]: row["checksum"] for row in objects},
    )


async def record_migration(connection: Connection, file: SqlFile) -> None:
    await connection.execute(
        "insert into internal.migration (version, name, checksum) values ($1, $2, $3)",
        file.version,
        file.name,
        file.checksum,
    )


async def record_object(connection: Connection, file: SqlFile) -> None:
    await connection.execute(
        """
        insert into internal.applied_object (path, checksum) values ($1, $2)
        on conflict (path) do update set checksum = excluded.checksum, applied_at = excluded.applied_at
        """,
        file.path,
        file.checksum,
    )


async def forget_object(connection: Connection, path: str) -> None:
    await connection.execute("delete from internal.applied_object where path = $1", path)
