"""Finds the files a command line names, directly or in folders."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path


@dataclass(frozen=True, slots=True)
class File:
    """A file to ingest, or the `reason` why it cannot be; `root` is the folder on the command line."""

    path: Path
    reason: str | None = None
    root: Path | None = None


def find_files(paths: Sequence[Path], pattern: str | None = None) -> list[File]:
    """Every file once, in order; hidden and non-matching ones only if named explicitly."""
    found: dict[str, File] = {}
    for path in paths:
        for file in _under(path, pattern) if path.is_dir() else (_named(path),):
            root = path if path.is_dir() else path.parent
            found.setdefault(os.path.realpath(file.path), replace(file, root=root))
    return list(found.values())


def all_paths(folder: Path) -> Iterator[Path]:
    """Every entry below a folder that is not a folder, including hidden, linked and unreadable ones."""
    for base, _, names in os.walk(folder):
        for name in names:
            yield Path(base, name)


def _named(path: Path) -> File:
    try:
        path.stat()
    except OSError as error:
        return File(path, error.strerror or str(error))
    return _readable(path)


def _under(folder: Path, pattern: str | None) -> Iterator[File]:
    unread: list[File] = []

    def refused(error: OSError) -> None:
        unread.append(File(Path(error.filename), error.strerror or str(error)))

    # Links to folders are not followed, which avoids cycles.
    for base, folders, names in os.walk(folder, onerror=refused):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(base, name)
            if not name.startswith(".") and _wanted(path, folder, pattern):
                yield _readable(path)
    yield from unread


def _wanted(path: Path, folder: Path, pattern: str | None) -> bool:
    if pattern is None:
        return True
    return fnmatchcase(path.name, pattern) or fnmatchcase(path.relative_to(folder).as_posix(), pattern)


def _readable(path: Path) -> File:
    if not path.is_file():
        return File(path, "not a regular file" if path.exists() else "the link is broken")
    return File(path) if os.access(path, os.R_OK) else File(path, "Permission denied")
