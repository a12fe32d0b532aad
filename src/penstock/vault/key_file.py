"""A private file of master keys: created once, read again when it changes, rewritten by a rotation."""

from __future__ import annotations

import fcntl
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from penstock.db.private_files import ensure_private_dir, sync_folder, write_private
from penstock.vault.errors import VaultKeyInvalid
from penstock.vault.keys import MasterKey, generate_key, read_keys, write_keys

Version = tuple[int, int, int]


class KeyFile:
    """`created`: the file of the data directory, which is made if it is missing."""

    def __init__(self, path: Path, *, created: bool) -> None:
        self.path = path
        self._created = created

    @property
    def version(self) -> Version | None:
        """Differs after the file was replaced or written."""
        try:
            status = self.path.stat()
        except OSError:
            return None
        return status.st_ino, status.st_mtime_ns, status.st_size

    def read(self) -> tuple[MasterKey, ...]:
        if self._created and not self.path.exists():
            _make(self.path)
        return _read(self.path)

    def add_first(self, after: str) -> tuple[MasterKey, ...]:
        """Put a new key first and return all, unless another process has replaced the first key `after`."""
        with _locked(self.path):
            keys = _read(self.path)
            if keys[0].key_id == after:
                keys = (*read_keys(generate_key(), "a new key"), *keys)
                self._write(keys)
        return keys

    def add_all(self, given: tuple[MasterKey, ...]) -> None:
        """Put these keys before the existing ones; the file need not exist."""
        ensure_private_dir(self.path.parent)
        with _locked(self.path):
            kept = _read(self.path) if self.path.exists() else ()
            ids = {key.key_id for key in given}
            self._write((*given, *(key for key in kept if key.key_id not in ids)))

    def remove(self, key_id: str) -> bool:
        """Remove a key, but never the first one, which encrypts."""
        with _locked(self.path):
            keys = _read(self.path)
            left = (keys[0], *(key for key in keys[1:] if key.key_id != key_id))
            if len(left) == len(keys):
                return False
            self._write(left)
        return True

    def _write(self, keys: tuple[MasterKey, ...]) -> None:
        try:
            write_private(self.path, write_keys(keys))
        except OSError as error:
            raise VaultKeyInvalid(
                str(self.path),
                f"it cannot be written ({error.strerror})",
                "Put a new key before the others yourself, with a comma between them, and run this again:"
                " head -c 32 /dev/urandom | base64",
            ) from error


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """One writer at a time: of two, the second must not drop the key that the first has added."""
    descriptor = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _read(path: Path) -> tuple[MasterKey, ...]:
    try:
        # A symbolic link could point to a file that others may read or write.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise VaultKeyInvalid(
            str(path), f"it cannot be read ({error.strerror})", f"Make {path} this user's regular file"
        ) from error
    with os.fdopen(descriptor, encoding="ascii", errors="replace") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_mode & 0o077:
            raise VaultKeyInvalid(str(path), "other users may read it", f"Run: chmod 600 {path}")
        if status.st_uid != os.geteuid() and os.geteuid() != 0:
            raise VaultKeyInvalid(str(path), "it belongs to another user", f"Run: chown $(id -u) {path}")
        return read_keys(file.read(), str(path))


def _make(path: Path) -> None:
    """Write a new key atomically, or keep the one another process wrote at the same time."""
    ensure_private_dir(path.parent)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(generate_key() + "\n")
            file.flush()
            os.fsync(descriptor)
        with suppress(FileExistsError):
            os.link(draft, path)
    finally:
        draft.unlink()
    sync_folder(path.parent)  # a key lost in a crash would leave secrets that no one can decrypt
