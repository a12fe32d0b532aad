"""All database text of Penstock, and the loader of such folders: migrations, re-applied objects, security."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path

HERE = os.path.dirname(__file__)


class Kind(StrEnum):
    MIGRATION = "migration"
    FUNCTION = "function"
    VIEW = "view"
    SECURITY = "security"


OBJECT_FOLDERS = {"functions": Kind.FUNCTION, "views": Kind.VIEW}
AFTER_OBJECTS = ("rows", "triggers", "grants")
"""Folders beside `functions` and `views`, re-applied after them: rows of the code's own, triggers, grants."""
SECURITY_ORDER = (
    "security/roles.sql",
    "security/owners.sql",
    "security/vectors.sql",
    "rows",
    "triggers",
    "security/take_back_grants.sql",
    "security/row_security.sql",
    "grants",
)
"""How the files that are re-applied after the objects follow each other, by path or by folder."""
ON_REQUEST = "on_request"
"""The folder of files that no migration applies, because what they need may be absent, such as pgmq."""
MIGRATION_NAME = re.compile(r"(?P<version>\d{4})_(?P<name>[a-z0-9_]+)\.sql")
CREATED_SCHEMA = re.compile(r"^create schema (?:if not exists )?([a-z_][a-z0-9_]*)", re.MULTILINE)


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

    @property
    def files(self) -> tuple[SqlFile, ...]:
        return (*self.migrations, *self.objects, *self.security)

    @property
    def created_schemas(self) -> tuple[str, ...]:
        """The schemas its migrations create, in order."""
        return tuple(name for file in self.migrations for name in CREATED_SCHEMA.findall(file.text))

    @property
    def schemas(self) -> frozenset[str]:
        """Every schema it creates or puts an object into."""
        beside = {file.schema for file in (*self.objects, *self.security)} - {"security"}
        return frozenset(self.created_schemas) | beside


def code_version() -> int:
    """The number of the newest migration in the package, without reading a file."""
    names = os.listdir(os.path.join(HERE, "migrations"))
    return max((int(name[:4]) for name in names if MIGRATION_NAME.fullmatch(name)), default=0)


def on_request(name: str) -> str:
    """A file that is applied when somebody asks for it, by its path without the ending."""
    with open(os.path.join(HERE, ON_REQUEST, f"{name}.sql"), encoding="utf-8") as file:
        return file.read()


def load(root: Path | None = None) -> SqlTree:
    """Read the tree, by default the one inside the package."""
    migrations: list[SqlFile] = []
    objects: list[SqlFile] = []
    security: list[SqlFile] = []
    for folder in _folders(HERE if root is None else str(root)):
        if folder.name == "migrations":
            migrations += _read(folder, "migrations", Kind.MIGRATION)
        elif folder.name == "security":
            security += _read(folder, "security", Kind.SECURITY)
        else:
            for inner in _folders(folder.path):
                path = f"{folder.name}/{inner.name}"
                if (kind := OBJECT_FOLDERS.get(inner.name)) is not None:
                    objects += _read(inner, path, kind)
                elif inner.name in AFTER_OBJECTS:
                    security += _read(inner, path, Kind.SECURITY)
    _check_numbers(migrations)
    return SqlTree(
        tuple(migrations), tuple(sorted(objects, key=_rank)), tuple(sorted(security, key=_security_rank))
    )


def _rank(file: SqlFile) -> tuple[bool, str]:
    return (file.kind is Kind.VIEW, file.path)


def _security_rank(file: SqlFile) -> tuple[int, str]:
    what = file.path if file.schema == "security" else file.path.split("/")[-2]
    known = what in SECURITY_ORDER
    return (SECURITY_ORDER.index(what) if known else len(SECURITY_ORDER), file.path)


# Every command on the embedded server reads some 400 files: entries of os.scandir know whether they are
# folders, and pathlib would take three times as long.
def _folders(root: str) -> list[os.DirEntry[str]]:
    with os.scandir(root) as entries:
        return sorted((entry for entry in entries if entry.is_dir()), key=lambda entry: entry.name)


def _read(folder: os.DirEntry[str], path: str, kind: Kind) -> Iterator[SqlFile]:
    schema = path.split("/", 1)[0]
    for name in sorted(os.listdir(folder.path)):
        if name.endswith(".sql"):
            with open(f"{folder.path}/{name}", "rb", buffering=0) as file:
                content = file.readall()
            text = content.decode().replace("\r\n", "\n")
            yield SqlFile(f"{path}/{name}", kind, schema, name.removesuffix(".sql"), text)


def _check_numbers(migrations: list[SqlFile]) -> None:
    for expected, file in enumerate(migrations, start=1):
        name = file.path.rsplit("/", 1)[-1]
        if MIGRATION_NAME.fullmatch(name) is None or file.version != expected:
            raise ValueError(
                f"{file.path}: migrations are named NNNN_name.sql without gaps, {expected:04} is next"
            )
