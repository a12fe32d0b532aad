"""All database text of Penstock, and its loader: migrations, re-applied objects, security."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from importlib.resources import files
from importlib.resources.abc import Traversable


class Kind(StrEnum):
    MIGRATION = "migration"
    FUNCTION = "function"
    VIEW = "view"
    SECURITY = "security"


OBJECT_FOLDERS = {"functions": Kind.FUNCTION, "views": Kind.VIEW}
MIGRATION_NAME = re.compile(r"(?P<version>\d{4})_(?P<name>[a-z0-9_]+)\.sql")


@dataclass(frozen=True)
class SqlFile:
    """One file; `path` is relative to the folder of all SQL and names the file in the ledger."""

    path: str
    kind: Kind
    schema: str
    name: str
    text: str

    @cached_property
    def checksum(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def version(self) -> int:
        """The number of a migration."""
        return int(self.path.rsplit("/", 1)[-1][:4])


@dataclass(frozen=True)
class SqlTree:
    """Everything the migrator applies, in order."""

    migrations: tuple[SqlFile, ...]
    objects: tuple[SqlFile, ...]
    security: tuple[SqlFile, ...]

    @property
    def version(self) -> int:
        return self.migrations[-1].version if self.migrations else 0


def code_version() -> int:
    """The number of the newest migration in the package, without reading a file."""
    names = (entry.name for entry in files(__name__).joinpath("migrations").iterdir())
    return max((int(name[:4]) for name in names if MIGRATION_NAME.fullmatch(name)), default=0)


def load(root: Traversable | None = None) -> SqlTree:
    """Read the tree, by default the one inside the package."""
    root = files(__name__) if root is None else root
    migrations: list[SqlFile] = []
    objects: list[SqlFile] = []
    security: list[SqlFile] = []
    for folder in _folders(root):
        if folder.name == "migrations":
            migrations += _read(folder, "migrations", Kind.MIGRATION)
        elif folder.name == "security":
            security += _read(folder, "security", Kind.SECURITY)
        else:
            for inner in _folders(folder):
                if (kind := OBJECT_FOLDERS.get(inner.name)) is not None:
                    objects += _read(inner, f"{folder.name}/{inner.name}", kind)
    _check_numbers(migrations)
    return SqlTree(tuple(migrations), tuple(sorted(objects, key=_rank)), tuple(security))


def _rank(file: SqlFile) -> tuple[bool, str]:
    return (file.kind is Kind.VIEW, file.path)


def _folders(root: Traversable) -> list[Traversable]:
    return sorted((entry for entry in root.iterdir() if entry.is_dir()), key=lambda entry: entry.name)


def _read(folder: Traversable, path: str, kind: Kind) -> Iterator[SqlFile]:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_file() and entry.name.endswith(".sql"):
            yield SqlFile(
                path=f"{path}/{entry.name}",
                kind=kind,
                schema=path.split("/", 1)[0],
                name=entry.name.removesuffix(".sql"),
                text=entry.read_text(encoding="utf-8"),
            )


def _check_numbers(migrations: list[SqlFile]) -> None:
    for expected, file in enumerate(migrations, start=1):
        name = file.path.rsplit("/", 1)[-1]
        if MIGRATION_NAME.fullmatch(name) is None or file.version != expected:
            raise ValueError(
                f"{file.path}: migrations are named NNNN_name.sql without gaps, {expected:04} is next"
            )
