"""Opens a backup: a folder directly, an archive by unpacking it into a temporary private folder."""

from __future__ import annotations

import re
import shutil
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from penstock.backup.manifest import BLOB_FOLDER, BLOB_LIST, BLOB_PATH, DATABASE, MANIFEST, VAULT_KEY
from penstock.errors import InvalidArgument

FILES = {MANIFEST, DATABASE, BLOB_LIST, VAULT_KEY}
BLOB = re.compile(rf"{BLOB_FOLDER}/{BLOB_PATH[1:-1]}")


@contextmanager
def open_backup(path: Path, scratch: Path) -> Iterator[Path]:
    """The folder of a backup for the block; an archive is unpacked below `scratch`."""
    if path.is_dir():
        yield path
        return
    if not path.is_file():
        raise InvalidArgument(
            f"there is no {path}", "source", "Name a folder or archive that penstock backup wrote"
        )
    scratch.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="restore-", dir=scratch) as folder:
        _unpack(path, Path(folder))
        yield Path(folder)


def _unpack(path: Path, folder: Path) -> None:
    """Accept only regular files with names a backup has: an archive is untrusted input."""
    try:
        with tarfile.open(path) as archive:
            for member in archive:
                if not member.isreg() or not (member.name in FILES or BLOB.fullmatch(member.name)):
                    raise InvalidArgument(
                        f"{member.name!r} does not belong in a backup",
                        "source",
                        "Name what penstock backup wrote",
                    )
                file = folder / member.name
                file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                content = archive.extractfile(member)
                assert content is not None  # a regular file has content
                with content, file.open("xb") as out:
                    shutil.copyfileobj(content, out, 1_048_576)
                file.chmod(0o600)
    except (tarfile.TarError, EOFError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # an error of the disk, not of the archive
        raise InvalidArgument(
            f"{path} cannot be unpacked: {error}",
            "source",
            "It is damaged or incomplete; use another backup",
        ) from error
