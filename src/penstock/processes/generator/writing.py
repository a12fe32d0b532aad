"""Writes new files into a project: all or none, never overwriting one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from penstock.errors import Conflict
from penstock.processes.generator.files import NewFile


def write(root: Path, files: Sequence[NewFile]) -> None:
    """Write them; raises Conflict with the file's name if one already exists."""
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
            path = Path(error.filename)
            raise _there(path.relative_to(root) if path.is_relative_to(root) else path) from error
        raise


def check_absent(root: Path, files: Sequence[NewFile]) -> None:
    for file in files:
        if (root / file.path).exists():
            raise _there(file.path)


def _there(path: Path) -> Conflict:
    return Conflict(
        f"the file {path} already exists; nothing was written",
        "name",
        "Choose another name, or move the file",
    )
