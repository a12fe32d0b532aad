"""Files and folders that only their owner may read, whatever the process's umask."""

from __future__ import annotations

import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path


def make_private_dir(path: Path, group: int | None = None) -> None:
    """Make a folder with mode 0700, or make an existing one of ours private; its parents stay traversable.

    `group` names a group that has to traverse this folder too, as the embedded server's does when root runs
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
    """Make a folder and its missing parents with mode 0700; existing folders stay unchanged."""
    for folder in (*reversed(path.parents), path):
        with suppress(FileExistsError, PermissionError):
            if not folder.is_dir():
                folder.mkdir(mode=0o700)
    path.mkdir(exist_ok=True)  # raises the real error if that failed


def _make_parents(path: Path) -> None:
    for folder in reversed(path.parents):
        if not folder.exists():
            with suppress(FileExistsError):
                folder.mkdir()
                folder.chmod(0o755)  # our programs' umask would make it private


def _may_close(path: Path) -> bool:
    """Whether we may make a folder private: not another user's, nor shared like /tmp, a home or a project."""
    status = path.stat()
    if status.st_uid != os.geteuid() or status.st_mode & stat.S_ISVTX:
        return False
    resolved = path.resolve()
    return not any(used.resolve().is_relative_to(resolved) for used in (Path.cwd(), Path.home()))


def write_private(path: Path, text: str) -> None:
    """Write a file with mode 0600 atomically; it gets the owner of its folder."""
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
    """Give what root created in a user's folder to that user, who has to read it next time."""
    if os.geteuid() == 0:
        folder = path.parent.stat()
        os.fchown(descriptor, folder.st_uid, folder.st_gid)


def sync_folder(folder: Path) -> None:
    """Sync a folder's entries to disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def close_tree(root: Path) -> None:
    """Remove other users' access to a folder and everything in it; the folder's own mode is changed last."""
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
