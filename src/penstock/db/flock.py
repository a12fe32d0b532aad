"""File locks of the kernel: they end with the process that holds them, however it ends."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


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
        """Hold the lock together with others."""
        self._take(fcntl.LOCK_SH)

    def take(self) -> None:
        """Wait until nobody else holds the lock."""
        self._take(fcntl.LOCK_EX)

    def try_take(self) -> bool:
        """Hold the lock alone if nobody holds it now."""
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
        # Read-only, so that a file made by root still locks for a plain user.
        descriptor = os.open(self.path, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(descriptor, how)
        except BaseException:
            os.close(descriptor)
            raise
        self._descriptor = descriptor


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Run the block while holding the lock alone."""
    lock = FileLock(path)
    lock.take()
    try:
        yield
    finally:
        lock.release()
