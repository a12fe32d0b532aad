"""Finds users' own SQL folders: by PENSTOCK_SQL_DIR, or by an installed package's entry point."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from penstock import entry_points
from penstock.errors import SqlFolderInvalid
from penstock.sql import SqlFile, SqlTree, load
from penstock.sql.schema_names import why_not

SETTING = "PENSTOCK_SQL_DIR"
FIRST_SCHEMA = "Start its first migration with: create schema NAME authorization penstock_owner;"


@dataclass(frozen=True, slots=True)
class SqlFolder:
    """One folder, loaded and checked; its ledger is named after the first schema its migrations create."""

    name: str
    origin: str
    """The setting or the package it comes from."""
    root: Path
    tree: SqlTree

    def path_of(self, file: SqlFile) -> str:
        return str(self.root / file.path)

    @property
    def schemas(self) -> list[str]:
        return sorted(self.tree.schemas)


def find_folders(sql_dir: Path | None) -> tuple[SqlFolder, ...]:
    """Every folder of this installation; SqlFolderInvalid or EntryPointFailed names a broken one."""
    found: dict[Path, SqlFolder] = {}
    for origin, root in _places(sql_dir):
        if root not in found and (folder := read_folder(root, origin)) is not None:
            found[root] = folder
    folders = sorted(found.values(), key=lambda folder: folder.name)
    _check_apart(folders)
    return tuple(folders)


def _places(sql_dir: Path | None) -> Iterator[tuple[str, Path]]:
    if sql_dir is not None:
        yield SETTING, sql_dir.expanduser().resolve()
    for point in entry_points.offered(entry_points.SQL):
        yield point.origin, _inside(point)


def _inside(point: entry_points.Offered) -> Path:
    """The folder for `mill.sql`: `sql` in the package `mill`, which is located but not imported."""
    package, *inner = point.value.replace(":", ".").split(".")
    try:
        spec = find_spec(package)
    except (ImportError, ValueError):
        spec = None
    places = list(spec.submodule_search_locations or ()) if spec is not None else []
    if not places:
        raise point.failed(f"there is no package {package}")
    candidates = [Path(place, *inner) for place in places]
    for folder in candidates:
        if folder.is_dir():
            return folder.resolve()
    raise point.failed(f"there is no folder {candidates[0]}")


def read_folder(root: Path, origin: str) -> SqlFolder | None:
    """The folder, checked without a database; None when it has no SQL yet."""
    if not root.is_dir():
        remedy = f"Create it, or correct {SETTING}" if origin == SETTING else f"Correct {origin}"
        raise SqlFolderInvalid(str(root), f"there is no such folder ({origin})", remedy)
    try:
        tree = load(root)
    except UnicodeDecodeError as error:
        raise SqlFolderInvalid(str(root), f"a file is not UTF-8: {error}", "Save it as UTF-8") from None
    except ValueError as error:
        raise SqlFolderInvalid(
            str(root), str(error), "Rename the file, or restore the missing one before it"
        ) from None
    if not tree.files:
        return None
    from penstock.sql.file_rules import forbidden  # its patterns take 10 ms, and few have such a folder

    created = tree.created_schemas
    if not created:
        raise SqlFolderInvalid(str(root), "no migration creates a schema", FIRST_SCHEMA)
    for schema in tree.schemas:
        _check_schema(root, tree, schema)
    for file in tree.files:
        if (found := forbidden(file)) is not None:
            raise SqlFolderInvalid(str(root / file.path), *found)
    return SqlFolder(created[0], origin, root, tree)


def _check_schema(root: Path, tree: SqlTree, schema: str) -> None:
    if (reason := why_not(schema)) is not None:
        raise SqlFolderInvalid(str(root), reason, "Give your schema another name, such as the product's")
    if schema not in tree.created_schemas:
        raise SqlFolderInvalid(
            str(root / schema),
            f"no migration of this folder creates the schema {schema}",
            f"Add one: create schema {schema} authorization penstock_owner;",
        )


def _check_apart(folders: list[SqlFolder]) -> None:
    """A schema belongs to one folder."""
    owners: dict[str, SqlFolder] = {}
    for folder in folders:
        for schema in folder.schemas:
            if (other := owners.setdefault(schema, folder)) is not folder:
                raise SqlFolderInvalid(
                    str(folder.root),
                    f"the schema {schema} is also in {other.root} ({other.origin})",
                    "Rename one of the two, or remove one package",
                )
