"""Where a backup is written: a folder or, by its extension, an archive; it appears once complete."""

from __future__ import annotations

import hashlib
import os
import shutil
import tarfile
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from penstock.backup.manifest import MANIFEST
from penstock.db.flock import FileLock
from penstock.db.private_files import sync_folder
from penstock.errors import InvalidArgument

ARCHIVES: dict[str, Literal["w", "w:gz"]] = {".tar": "w", ".tar.gz": "w:gz", ".tgz": "w:gz"}


class BackupTarget:
    """`work` is a private folder next to the target; its files become the backup, or are packed into it."""

    def __init__(self, path: Path, work: Path, archive: tarfile.TarFile | None) -> None:
        self.path = path
        self.work = work
        self._archive = archive

    def keep(self, name: str) -> None:
        """Add a finished file of `work` to the backup."""
        if self._archive is not None:
            self._archive.add(self.work / name, name, recursive=False)
            (self.work / name).unlink()
        else:
            with (self.work / name).open("rb") as file:
                os.fsync(file.fileno())

    def keep_text(self, name: str, text: str) -> None:
        (self.work / name).write_text(text)
        (self.work / name).chmod(0o600)
        self.keep(name)

    async def keep_stream(self, name: str, pieces: AsyncIterator[bytes]) -> tuple[int, str]:
        """Add a stream to the backup; returns its size and hash."""
        file = self.work / ("stream" if self._archive is not None else name)
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        digest, size = hashlib.sha256(), 0
        with file.open("wb") as out:  # pieces go to the page cache; synced to disk at the end
            async for piece in pieces:
                digest.update(piece)
                size += len(piece)
                out.write(piece)
        if self._archive is not None:
            self._archive.add(file, name, recursive=False)
            file.unlink()
        else:
            with file.open("rb") as written:
                os.fsync(written.fileno())
        return size, digest.hexdigest()


@contextmanager
def open_target(path: Path, *, force: bool) -> Iterator[BackupTarget]:
    """A target for the block; the backup gets its name at the end of the block, unless it fails."""
    _check(path, force=force)
    work = path.with_name(f".{path.name}.partial")
    lock = FileLock(path.with_name(f".{path.name}.lock"))
    if not lock.try_take():
        raise InvalidArgument(f"another backup to {path} is running", "target", "Name another target")
    try:
        shutil.rmtree(work, ignore_errors=True)  # left by a killed backup
        work.mkdir(mode=0o700)
        kind = archive_kind(path)
        packed = work / "archive"
        archive = None
        if kind is not None:
            packed.touch(mode=0o600)
            archive = tarfile.open(packed, ARCHIVES[kind], format=tarfile.PAX_FORMAT)  # noqa: SIM115
        try:
            yield BackupTarget(path, work, archive)
        finally:
            if archive is not None:
                archive.close()
        _put(path, packed if kind is not None else work)
    finally:
        shutil.rmtree(work, ignore_errors=True)
        lock.path.unlink(missing_ok=True)
        lock.release()


def archive_kind(path: Path) -> str | None:
    """The extension that makes it an archive."""
    return next((ending for ending in ARCHIVES if path.name.endswith(ending)), None)


def _check(path: Path, *, force: bool) -> None:
    if not path.parent.is_dir():
        raise InvalidArgument(f"there is no folder {path.parent}", "target", "Create the folder first")
    if not os.access(path.parent, os.W_OK):
        raise InvalidArgument(f"{path.parent} cannot be written to", "target", "Name another target")
    if path.is_dir():
        inside = {entry.name for entry in path.iterdir()}
        if inside and MANIFEST not in inside:
            raise InvalidArgument(
                f"{path} is a folder that contains other files",
                "target",
                "Name a folder that does not exist yet",
            )
        if not inside:
            return
    if path.exists() and not force:
        raise InvalidArgument(f"{path} exists", "target", "Name another target, or add --force to replace it")


def _put(path: Path, finished: Path) -> None:
    """Rename the backup after it has been synced to disk."""
    if finished.is_file():
        with finished.open("rb") as file:
            os.fsync(file.fileno())
        finished.replace(path)
    else:
        for folder, _, _ in os.walk(finished):
            sync_folder(Path(folder))
        before = path.with_name(f".{path.name}.replaced")
        shutil.rmtree(before, ignore_errors=True)
        if path.exists():
            path.rename(before)
        finished.rename(path)
        shutil.rmtree(before, ignore_errors=True)
    sync_folder(path.parent)
