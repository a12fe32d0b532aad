"""Files and folders that only their owner may read, whatever umask the process runs under."""

from __future__ import annotations

import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path


def make_private_dir(path: Path, group: int | None = None) -> None:
    """Make a folder with mode 0700, or close an existing one of ours; its parents stay open to pass through.

    `group` names a group that has to pass through this one too, as the embedded server's does when root runs
    Penstock: the folder then has mode 0710.
    """
    _make_parents(path)
    try:
        path.mkdir(mode=0o700)
    except FileExistsError:
        if not _may_close(path):
            return
    mode = 0o700
    if group is not None:
        if path.stat().st_gid != group:
            os.chown(path, -1, group)
        mode = 0o710
    if stat.S_IMODE(path.stat().st_mode) != mode:
        path.chmod(mode)


def ensure_private_dir(path: Path) -> None:
    """Make a folder and what is missing above it with mode 0700; what is there stays as it is."""
    for folder in (*reversed(path.parents), path):
        with suppress(FileExistsError, PermissionError):
            if not folder.is_dir():
                folder.mkdir(mode=0o700)
    path.mkdir(exist_ok=True)  # says why where that did not work


def _make_parents(path: Path) -> None:
    for folder in reversed(path.parents):
        if not folder.exists():
            with suppress(FileExistsError):
                folder.mkdir()
                folder.chmod(0o755)  # the umask of our programs would close it


def _may_close(path: Path) -> bool:
    """Whether a folder is ours to close: not another user's, shared like /tmp, a home or a project."""
    status = path.stat()
    if status.st_uid != os.geteuid() or status.st_mode & stat.S_ISVTX:
        return False
    resolved = path.resolve()
    return not any(used.resolve().is_relative_to(resolved) for used in (Path.cwd(), Path.home()))


def write_private(path: Path, text: str) -> None:
    """Write a file with mode 0600, whole or not at all; it belongs to whoever owns its folder."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "w") as file:
            own_like_folder(descriptor, path)
            file.write(text)
            file.flush()
            os.fsync(descriptor)
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def own_like_folder(descriptor: int, path: Path) -> None:
    """Give what root made in somebody's folder to that user, who has to read it the next time."""
    if os.geteuid() == 0:
        folder = path.parent.stat()
        os.fchown(descriptor, folder.st_uid, folder.st_gid)


def sync_folder(folder: Path) -> None:
    """Put a folder's entries on disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def close_tree(root: Path) -> None:
    """Take other users' rights from a folder of ours and all in it; its own mode says that it was done."""
    status = root.stat()
    if status.st_uid != os.geteuid() or not status.st_mode & 0o077:
        return
    for folder, names, files in os.walk(root):
        for name in (*names, *files):
            entry = Path(folder, name)
            with suppress(FileNotFoundError, PermissionError):
                if not entry.is_symlink():
                    entry.chmod(0o700 if name in names else 0o600)
    root.chmod(0o700)
