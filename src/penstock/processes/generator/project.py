"""Reads a project's pyproject.toml and settings: its SQL folder and its channels."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from penstock import entry_points
from penstock.db.sql_folders import SETTING, read_folder
from penstock.errors import InvalidArgument
from penstock.settings import Settings
from penstock.sql import SqlTree

REMEDY = (
    f"Set {SETTING}=sql in the environment or .env, or write into pyproject.toml "
    '[project.entry-points."penstock.sql"] with NAME = "PACKAGE.sql"; '
    "elsewhere, name the project: --into FOLDER"
)


def is_penstock(root: Path) -> bool:
    """Whether the folder is a checkout of Penstock itself."""
    if not ((root / "src/penstock/sql/migrations").is_dir() and (root / "tests/sql").is_dir()):
        return False
    return bool(_project(root).get("name") == "penstock")


def sql_folder(root: Path) -> tuple[Path, SqlTree]:
    """The project's SQL folder, relative to the root if inside it, and its contents."""
    named = Settings(_env_file=root / ".env").sql_dir
    folder = root / named.expanduser() if named is not None else _offered_folder(root)
    if folder is None:
        raise InvalidArgument(f"there is no folder for SQL of your own in {root}", "into", REMEDY)
    folder = folder.resolve()
    found = read_folder(folder, SETTING) if folder.is_dir() else None
    tree = SqlTree((), (), ()) if found is None else found.tree
    return folder.relative_to(root) if folder.is_relative_to(root) else folder, tree


def channel_names(root: Path) -> tuple[str, ...]:
    """Users' own channels: those of this project and of installed packages."""
    offered = {point.name for point in entry_points.offered(entry_points.CHANNELS)}
    return tuple(sorted(offered | _entry_points(root, entry_points.CHANNELS).keys()))


def _offered_folder(root: Path) -> Path | None:
    """The project's entry points, whether it is installed or not."""
    offered = _entry_points(root, entry_points.SQL)
    if len(offered) > 1:
        raise InvalidArgument(
            f"{root / 'pyproject.toml'} offers several folders of SQL: {', '.join(offered)}",
            "into",
            f"Say which: {SETTING}=FOLDER penstock new process …",
        )
    for value in offered.values():
        package, *inner = str(value).replace(":", ".").split(".")
        for place in (root / "src" / package, root / package):
            if place.is_dir():
                return place.joinpath(*inner)
        raise InvalidArgument(
            f"{root / 'pyproject.toml'} offers {value}, and there is no package {package} in {root}",
            "into",
            f"Create {root / 'src' / package}, or correct the entry point",
        )
    return None


def _entry_points(root: Path, group: str) -> dict[str, Any]:
    found = _project(root).get("entry-points", {}).get(group, {})
    return found if isinstance(found, dict) else {}


def _project(root: Path) -> dict[str, Any]:
    try:
        text = (root / "pyproject.toml").read_text(encoding="utf-8")
        found = tomllib.loads(text).get("project", {})
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError):
        return {}
    return found if isinstance(found, dict) else {}
