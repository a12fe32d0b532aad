"""Writes new files into a checkout: all of them or none, and never over one that is there."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from penstock.errors import Conflict
from penstock.scaffold.files import NewFile


def write(root: Path, files: Sequence[NewFile]) -> None:
    """Write them; raises Conflict, which names the file, when one is there already."""
    check_absent(root, files)
    made: list[Path] = []
    try:
        for file in files:
            path = root / file.path
            for folder in reversed(path.parents):
                if not folder.exists():
                    folder.mkdir()
                    made.append(folder)
            with path.open("x", encoding="utf-8", newline="\n") as opened:
                made.append(path)
                opened.write(file.text)
    except BaseException as error:
        for path in reversed(made):
            path.rmdir() if path.is_dir() else path.unlink()
        if isinstance(error, FileExistsError):
            raise _there(Path(error.filename).relative_to(root)) from error
        raise


def check_absent(root: Path, files: Sequence[NewFile]) -> None:
    for file in files:
        if (root / file.path).exists():
            raise _there(file.path)


def _there(path: Path) -> Conflict:
    return Conflict(
        f"the file {path} is there already; nothing was written",
        "name",
        "Choose another name, or move the file away",
    )
