"""Kernel file locks: released when the process that holds them ends, however it ends."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from penstock.db.private_files import own_like_folder


class FileLock:
    """One open file description; two objects on one path exclude each other even within a process."""

    __slots__ = ("_descriptor", "path")

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor: int | None = None

    @property
    def held(self) -> bool:
        return self._descriptor is not None

    def share(self) -> None:
        """Take the lock in shared mode."""
        self._take(fcntl.LOCK_SH)

    def take(self) -> None:
        """Take the lock exclusively, waiting for other holders."""
        self._take(fcntl.LOCK_EX)

    def try_take(self) -> bool:
        """Take the lock exclusively if no one holds it now."""
        try:
            self._take(fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def release(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _take(self, how: int) -> None:
        if self._descriptor is not None:
            return
        descriptor = _open(self.path)
        try:
            fcntl.flock(descriptor, how)
        except BaseException:
            os.close(descriptor)
            raise
        self._descriptor = descriptor


def _open(path: Path) -> int:
    """Open the file read-only; create it if missing, with mode 0600 and owned by the folder's owner."""
    flags = os.O_RDONLY | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return os.open(path, flags)
    own_like_folder(descriptor, path)
    return descriptor


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Run the block while holding the lock exclusively."""
    lock = FileLock(path)
    lock.take()
    try:
        yield
    finally:
        lock.release()
