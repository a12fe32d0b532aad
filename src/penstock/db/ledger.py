"""The ledger of one SQL folder: which migrations and objects a database already has."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.db.sql_folders import SqlFolder
from penstock.db.types import Connection
from penstock.errors import DatabaseNewer, MigrationChanged, SchemaReplaced
from penstock.sql import SqlFile, SqlTree


@dataclass(frozen=True, slots=True)
class MigrationLedger:
    """Checksums of what was applied; `migrations` by version, `objects` by path."""

    migrations: dict[int, tuple[str, str]]
    objects: dict[str, str]

    @property
    def version(self) -> int:
        return max(self.migrations, default=0)

    def check(self, tree: SqlTree, folder: SqlFolder | None = None) -> None:
        """Reject a database that newer or different code migrated; `folder` is set for the user's own SQL."""
        if folder is None and self._starts_differently(tree):
            raise SchemaReplaced
        if self.version > tree.version:
            raise DatabaseNewer(self.version, tree.version, None if folder is None else str(folder.root))
        for file in tree.migrations:
            name, checksum = self.migrations.get(file.version, (file.name, file.checksum))
            if (name, checksum) != (file.name, file.checksum):
                raise MigrationChanged(file.path if folder is None else folder.path_of(file))

    def _starts_differently(self, tree: SqlTree) -> bool:
        """Whether the first migration had another name: these were rewritten once."""
        return bool(self.migrations and tree.migrations) and self.migrations[1][0] != tree.migrations[0].name

    def pending(self, tree: SqlTree) -> list[SqlFile]:
        return [file for file in tree.migrations if file.version not in self.migrations]

    def changed(self, files: tuple[SqlFile, ...]) -> list[SqlFile]:
        return [file for file in files if self.objects.get(file.path) != file.checksum]

    def vanished(self, tree: SqlTree) -> list[str]:
        kept = {file.path for file in (*tree.objects, *tree.security)}
        return sorted(path for path in self.objects if path not in kept)


@dataclass(frozen=True, slots=True)
class LedgerTables:
    """Where the ledger of a folder is stored: Penstock's own in two tables, the users' in two others."""

    connection: Connection
    folder: str | None = None

    async def read(self) -> MigrationLedger:
        """What was applied; nothing, if the database lacks the tables."""
        table = "internal.applied_object" if self.folder is None else "internal.own_object"
        if await self.connection.fetchval("select pg_catalog.to_regclass($1) is null", table):
            return MigrationLedger({}, {})
        if self.folder is None:
            migrations = await self.connection.fetch("select version, name, checksum from internal.migration")
            objects = await self.connection.fetch("select path, checksum from internal.applied_object")
        else:
            migrations = await self.connection.fetch(
                "select version, name, checksum from internal.own_migration where folder = $1", self.folder
            )
            objects = await self.connection.fetch(
                "select path, checksum from internal.own_object where folder = $1", self.folder
            )
        return MigrationLedger(
            {row["version"]: (row["name"], row["checksum"]) for row in migrations},
            {row["path"]: row["checksum"] for row in objects},
        )

    async def record_migration(self, file: SqlFile) -> None:
        if self.folder is None:
            statement = "insert into internal.migration (version, name, checksum) values ($1, $2, $3)"
            await self.connection.execute(statement, file.version, file.name, file.checksum)
            return
        await self.connection.execute(
            "insert into internal.own_migration (folder, version, name, checksum) values ($1, $2, $3, $4)",
            self.folder,
            file.version,
            file.name,
            file.checksum,
        )

    async def record_object(self, file: SqlFile) -> None:
        if self.folder is None:
            await self.connection.execute(
                """
                insert into internal.applied_object (path, checksum) values ($1, $2)
                on conflict (path) do update set
                  checksum = excluded.checksum, applied_at = excluded.applied_at
                """,
                file.path,
                file.checksum,
            )
            return
        await self.connection.execute(
            """
            insert into internal.own_object (folder, path, checksum) values ($1, $2, $3)
            on conflict (folder, path) do update set
              checksum = excluded.checksum, applied_at = excluded.applied_at
            """,
            self.folder,
            file.path,
            file.checksum,
        )

    async def forget_object(self, path: str) -> None:
        if self.folder is None:
            await self.connection.execute("delete from internal.applied_object where path = $1", path)
        else:
            await self.connection.execute(
                "delete from internal.own_object where folder = $1 and path = $2", self.folder, path
            )
