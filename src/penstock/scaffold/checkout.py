"""The checkout a process is written into: where files go, and what is there already."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from penstock.errors import Conflict, InvalidArgument
from penstock.scaffold.process import Process
from penstock.sql import SqlTree, load

SQL: Final = Path("src/penstock/sql")
TESTS: Final = Path("tests/sql")


@dataclass(frozen=True, slots=True)
class Checkout:
    root: Path
    tree: SqlTree

    @classmethod
    def at(cls, folder: Path) -> Self:
        """The checkout in this folder; raises InvalidArgument when there is none."""
        root = folder.resolve()
        if not _is_penstock(root):
            raise InvalidArgument(
                f"{root} is no checkout of Penstock",
                "into",
                "Go into the checkout, or name it: --into FOLDER",
            )
        return cls(root, load(root / SQL))

    @property
    def next_migration(self) -> int:
        return self.tree.version + 1

    def has_schema(self, schema: str) -> bool:
        return self._created(rf"schema {schema}") is not None

    def check_free(self, process: Process) -> None:
        """Raise Conflict when the process, one of its tables or a schema that cannot hold it is there."""
        registered = f"register_process('{process.qualified}'"
        for file in self.tree.security:
            if registered in file.text:
                raise Conflict(
                    f"the process {process.qualified} is there already: {SQL / file.path}",
                    "name",
                    "Choose another name",
                )
        for table in process.tables:
            if (migration := self._created(rf"table {re.escape(table)}")) is not None:
                raise Conflict(
                    f"the table {table} is there already: {SQL / migration}", "name", "Choose another name"
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


def _is_penstock(root: Path) -> bool:
    project = root / "pyproject.toml"
    if not (project.is_file() and (root / SQL / "migrations").is_dir() and (root / TESTS).is_dir()):
        return False
    try:
        named = tomllib.loads(project.read_text(encoding="utf-8")).get("project", {}).get("name")
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        return False
    return bool(named == "penstock")
