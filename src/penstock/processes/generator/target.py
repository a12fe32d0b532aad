"""Where a process is generated: a checkout of Penstock, or a user's project with its SQL folder."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from penstock.errors import Conflict, InvalidArgument
from penstock.processes.generator.process import Process
from penstock.processes.generator.project import is_penstock, sql_folder
from penstock.sql import SqlTree, load
from penstock.sql.schema_names import why_not

SQL: Final = Path("src/penstock/sql")
TESTS: Final = Path("tests/sql")
OWN_TESTS: Final = Path("tests")


@dataclass(frozen=True, slots=True)
class Target:
    root: Path
    """The project; files are named from here."""
    sql: Path
    """Its folder of SQL, from the root on."""
    tree: SqlTree
    tests: Path
    """Where the process's test goes, from the root on."""
    is_penstock: bool
    """A checkout of Penstock, whose processes are tested in its own way."""

    @classmethod
    def at(cls, folder: Path) -> Self:
        """The project in this folder; InvalidArgument says how to set an SQL folder if there is none."""
        root = folder.resolve()
        if is_penstock(root):
            return cls(root, SQL, load(root / SQL), TESTS, is_penstock=True)
        sql, tree = sql_folder(root)
        return cls(root, sql, tree, OWN_TESTS, is_penstock=False)

    @property
    def next_migration(self) -> int:
        return self.tree.version + 1

    def grants_file(self, process: Process) -> Path:
        """The file that registers the process and says who may start it."""
        if self.is_penstock:
            return self.sql / process.schema / "grants" / f"process_{process.name}.sql"
        return self.sql / process.schema / "grants" / f"{process.name}.sql"

    def has_schema(self, schema: str) -> bool:
        return schema in self.tree.created_schemas

    def check_free(self, process: Process) -> None:
        """Raise Conflict if the process, one of its tables, or an unsuitable schema already exists."""
        if not self.is_penstock and (reason := why_not(process.schema)) is not None:
            raise InvalidArgument(
                reason, "schema", "Choose your own schema, such as the name of your product"
            )
        registered = f"register_process('{process.qualified}'"
        for file in self.tree.security:
            if registered in file.text:
                raise Conflict(
                    f"the process {process.qualified} already exists: {self.sql / file.path}",
                    "name",
                    "Choose another name",
                )
        for table in process.tables:
            if (migration := self._created(rf"table {re.escape(table)}")) is not None:
                raise Conflict(
                    f"the table {table} already exists: {self.sql / migration}",
                    "name",
                    "Choose another name",
                )
        owned = rf"schema {process.schema} authorization penstock_owner"
        if self.has_schema(process.schema) and self._created(owned) is None:
            raise InvalidArgument(
                f"the schema {process.schema} does not belong to penstock_owner",
                "schema",
                "Choose another schema, or a new one",
            )

    def _created(self, what: str) -> str | None:
        """The migration that creates it."""
        pattern = re.compile(rf"^create {what}\b", re.MULTILINE)
        return next((file.path for file in self.tree.migrations if pattern.search(file.text)), None)
