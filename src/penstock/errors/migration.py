"""What can go wrong with the schema and with a user's own SQL."""

from __future__ import annotations

from penstock.errors.root import PenstockError


class DatabaseNewer(PenstockError):
    """The database was migrated by newer code; `folder` is as for `NotMigrated`."""

    def __init__(self, database_version: int, code_version: int, folder: str | None = None) -> None:
        if folder is None:
            message = (
                f"The database is at version {database_version}, but this code knows version {code_version}"
            )
            remedy = "Install the Penstock release that migrated the database, or a newer one"
        else:
            message = (
                f"The database has migration {database_version:04} of {folder}, "
                f"but the folder ends with {code_version:04}"
            )
            remedy = "Install the version of your package that migrated the database, or restore the files"
        super().__init__(message, remedy)
        self.database_version = database_version
        self.code_version = code_version
        self.folder = folder
        self.args = (database_version, code_version, folder)


class MigrationChanged(PenstockError):
    """A migration was edited or removed after it was applied."""

    def __init__(self, path: str) -> None:
        super().__init__(
            f"Migration {path} was changed or removed after it was applied",
            "Restore the original file and make the change in a new migration",
        )
        self.path = path
        self.args = (path,)


class SchemaReplaced(PenstockError):
    """The database was migrated by a development version, before the migrations were rewritten.

    `dump` is set if it is about the dump of such a database that should be restored.
    """

    def __init__(self, dump: str | None = None) -> None:
        remedy = (
            "To keep the data, back it up and use it with the version that wrote it. Otherwise remove the "
            "data directory (PENSTOCK_DATA_DIR, by default .penstock) or drop the database, and start again"
        )
        super().__init__(
            f"{'The database' if dump is None else dump} has the schema of an earlier development version; "
            "this version starts from a new schema and cannot migrate it",
            remedy if dump is None else "Restore it with the version of Penstock that wrote it",
        )
        self.dump = dump
        self.args = (dump,)


class NotMigrated(PenstockError):
    """The database has no schema, or an older one; `folder` is set if it is about SQL of your own."""

    def __init__(self, database_version: int | None, code_version: int, folder: str | None = None) -> None:
        found = "has no Penstock schema" if database_version is None else f"is at version {database_version}"
        message = f"The database {found}, but this code needs version {code_version}"
        if folder is not None:
            found = "no migration" if not database_version else f"migration {database_version:04}"
            message = f"The database has {found} of {folder}, but this code needs {code_version:04}"
        super().__init__(message, "Run: penstock migrate")
        self.database_version = database_version
        self.code_version = code_version
        self.folder = folder
        self.args = (database_version, code_version, folder)


class SchemaOutdated(PenstockError):
    """The command line called an object that the database does not have."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"The database schema does not match this version of Penstock: {reason}", "Run: penstock migrate"
        )
        self.reason = reason
        self.args = (reason,)


class SqlFolderInvalid(PenstockError):
    """A folder of SQL of your own is missing, has a gap in its numbers, or changes Penstock's own objects.

    `path` is the folder, or the file at fault.
    """

    def __init__(self, path: str, reason: str, remedy: str) -> None:
        super().__init__(f"{path}: {reason}", remedy)
        self.path = path
        self.reason = reason
        self.args = (path, reason, remedy)


class SqlFileFailed(PenstockError):
    """Postgres rejects a file of SQL of your own; nothing was written."""

    def __init__(self, path: str, line: int | None, reason: str) -> None:
        place = path if line is None else f"{path}, line {line}"
        super().__init__(
            f"Postgres rejected {place}: {reason}",
            "Correct the file and run penstock migrate again; nothing was written",
        )
        self.path = path
        self.line = line
        self.reason = reason
        self.args = (path, line, reason)


class SqlRulesBroken(PenstockError):
    """A folder of SQL of your own breaks a security rule; nothing was written."""

    def __init__(self, folder: str, complaints: tuple[str, ...]) -> None:
        super().__init__(
            f"{folder} breaks {len(complaints)} rule{'' if len(complaints) == 1 else 's'}: "
            + "; ".join(complaints),
            "Correct the files; penstock db check lists everything without touching a database",
        )
        self.folder = folder
        self.complaints = complaints
        self.args = (folder, complaints)
