"""Lists the files of a folder in a fixed order, and reads one in pieces."""

from __future__ import annotations

import asyncio
import mimetypes
import os
import stat
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from penstock.errors import NotFound

PIECE: Final = 1_048_576


@dataclass(frozen=True, slots=True)
class FoundFile:
    """`path` is relative to the folder, with forward slashes."""

    root: Path
    path: str
    size: int
    modified_ns: int

    @property
    def filename(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def media_type(self) -> str | None:
        return mimetypes.guess_type(self.filename)[0]

    @asynccontextmanager
    async def open(self) -> AsyncIterator[AsyncIterator[bytes]]:
        """Never follows a link: one could point out of the folder."""
        descriptor = await asyncio.to_thread(_open_beneath, self.root, self.path)
        try:
            yield _pieces(descriptor)
        finally:
            await asyncio.to_thread(os.close, descriptor)


def find_files(root: Path, after: str | None) -> Iterator[FoundFile | OSError]:
    """Regular files under `root` in the order of their path's parts, those after `after` only; hidden files
    and links are left out. A folder that cannot be read is yielded as its error."""
    yield from _walk(root, (), tuple(after.split("/")) if after is not None else None)


def _walk(root: Path, parts: tuple[str, ...], after: tuple[str, ...] | None) -> Iterator[FoundFile | OSError]:
    try:
        with os.scandir(root.joinpath(*parts)) as scan:
            entries = sorted((entry for entry in scan if not entry.name.startswith(".")), key=_name)
    except OSError as error:
        yield error
        return
    for entry in entries:
        here = (*parts, entry.name)
        if after is not None and here < after[: len(here)]:
            continue
        try:
            if entry.is_dir(follow_symlinks=False):
                yield from _walk(
                    root, here, after if after is not None and here == after[: len(here)] else None
                )
            elif entry.is_file(follow_symlinks=False) and here != after:
                found = entry.stat(follow_symlinks=False)
                yield FoundFile(root, "/".join(here), found.st_size, found.st_mtime_ns)
        except OSError as error:
            yield error


def _name(entry: os.DirEntry[str]) -> str:
    return entry.name


def _open_beneath(root: Path, path: str) -> int:
    try:
        folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        for part in path.split("/")[:-1]:
            try:
                inner = os.open(
                    part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder
                )
            finally:
                os.close(folder)
            folder = inner
        try:
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            descriptor = os.open(path.rpartition("/")[2], flags, dir_fd=folder)
        finally:
            os.close(folder)
    except OSError as error:
        raise NotFound(f"{path} cannot be read ({error.strerror})", "path", "Check the file") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise NotFound(f"{path} is no longer a regular file", "path", "Check the file")
    return descriptor


async def _pieces(descriptor: int) -> AsyncIterator[bytes]:
    while piece := await asyncio.to_thread(os.read, descriptor, PIECE):
        yield piece
