"""The folders of a child and its calls: each call has its own, deleted when it ends."""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile

from penstock.sandbox.namespaces import nobody, reachable_by_others

_COMMON = ("/tmp", "/var/tmp")  # noqa: S108  # only as the parent of folders with random names


class Folders:
    """`user` is the user calls run as, if different: `nobody`, if the worker is root."""

    def __init__(self) -> None:
        self.user = other_user()
        self.keeps_reading = self.user is not None and libraries_are_closed()
        self.path = _new_folder(self.user)
        self._numbers = itertools.count()

    def for_a_call(self) -> str:
        folder = os.path.join(self.path, str(next(self._numbers)))
        os.mkdir(folder, 0o700)
        if self.user is not None:
            os.chown(folder, *self.user)
        return folder

    def remove(self, folder: str) -> None:
        assert os.path.dirname(folder) == self.path, "only folders made here are removed"
        _remove(folder)

    def close(self) -> None:
        _remove(self.path)


def other_user() -> tuple[int, int] | None:
    """The user `nobody` if we are root; otherwise calls run as the same user."""
    return nobody() if sys.platform == "linux" and os.geteuid() == 0 else None


def libraries_are_closed() -> bool:
    """Whether the interpreter is in a place that only its owner can reach, such as /root."""
    needed = [sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")]
    return not all(map(reachable_by_others, needed))


def _new_folder(user: tuple[int, int] | None) -> str:
    if user is None:
        return tempfile.mkdtemp(prefix="penstock-sandbox-")
    bases = [base for base in (tempfile.gettempdir(), *_COMMON) if reachable_by_others(base)]
    folder = tempfile.mkdtemp(prefix="penstock-sandbox-", dir=bases[0] if bases else None)
    os.chmod(folder, 0o711)  # noqa: S103  # calls can reach their own folder but list nothing
    return folder


def exceeds(folder: str, most_bytes: int, most_files: int) -> bool:
    """Whether a call's folder exceeds these limits; an unreadable folder counts as exceeding."""
    held = files = 0
    waiting = [folder]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    files += 1
                    held += entry.stat(follow_symlinks=False).st_blocks * 512
                    if files > most_files or held > most_bytes:
                        return True
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        except FileNotFoundError:  # removed meanwhile
            continue
        except OSError:
            return True
    return False


def _remove(folder: str) -> None:
    """Delete everything, even unreadable folders or those nested deeper than Python can recurse."""
    with contextlib.suppress(RecursionError):
        shutil.rmtree(folder, ignore_errors=True)
    if os.path.lexists(folder):
        _open_folders(folder)
        subprocess.run(["rm", "-rf", "--", folder], check=False, stderr=subprocess.DEVNULL)  # noqa: S607


def _open_folders(folder: str) -> None:
    """Make it and every folder inside accessible; links are skipped. No process of the call is left."""
    waiting = [folder]
    while waiting:
        with contextlib.suppress(OSError):
            inside = waiting.pop()
            os.chmod(inside, 0o700)
            with os.scandir(inside) as entries:
                waiting += [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
