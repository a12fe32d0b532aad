"""The system user the embedded server runs as: Postgres refuses to run as root, so root uses another user."""

from __future__ import annotations

import fcntl
import os
import pwd
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

NAME = "penstock"
LOCK = "/run/penstock-useradd.lock"
"""Where only root can open it, so that nobody else can hold it."""


@dataclass(frozen=True, slots=True)
class ServerUser:
    """The user to run server commands as; `switch` says whether that differs from the current user."""

    uid: int
    gid: int
    switch: bool

    def run(
        self, command: Sequence[str | Path], *, given: str | None = None, timeout: float = 120
    ) -> subprocess.CompletedProcess[str]:
        """Run a server command with a clean environment: no PG… variable of the caller is passed on."""
        return subprocess.run(
            [str(part) for part in command],
            cwd="/",
            env={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "TZ": "UTC"},
            input=given or "",
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=timeout,
            check=False,
            user=self.uid if self.switch else None,
            group=self.gid if self.switch else None,
            extra_groups=() if self.switch else None,
        )

    def reaches(self, path: Path, mode: str = "-x") -> bool:
        """Ask the kernel instead of the mode bits: access lists and mounts matter too."""
        return not self.switch or self.run(["test", mode, path]).returncode == 0

    def give(self, path: Path) -> None:
        if self.switch:
            os.chown(path, self.uid, self.gid)


def server_user(owned: Path) -> ServerUser:
    """The current user; for root, the owner of an existing cluster, else a dedicated user, else `nobody`."""
    if os.geteuid() != 0:
        return ServerUser(os.geteuid(), os.getegid(), switch=False)
    if owned.exists() and (uid := owned.stat().st_uid) != 0:
        return ServerUser(uid, owned.stat().st_gid, switch=True)
    entry = _find(NAME) or _create() or _find("nobody")
    if entry is None:
        raise LookupError(
            f"neither the user {NAME} nor nobody exists; create one with: useradd --system {NAME}"
        )
    return ServerUser(entry.pw_uid, entry.pw_gid, switch=True)


def _find(name: str) -> pwd.struct_passwd | None:
    try:
        return pwd.getpwnam(name)
    except KeyError:
        return None


def _create() -> pwd.struct_passwd | None:
    """Create the user, unless another process did in the meantime.

    One process at a time: of two `useradd` that run at once, the second replaces the first one's entry, and
    a server that was started for the first has a user that no longer exists.
    """
    useradd = shutil.which("useradd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
    if useradd is None:
        return None
    command = [useradd, "--system", "--no-create-home", "--shell", "/usr/sbin/nologin", NAME]
    try:
        lock = os.open(LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:
        return None  # A read-only system, where no user can be created either.
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (entry := _find(NAME)) is None:
            subprocess.run(command, capture_output=True, check=False)
            entry = _find(NAME)
        return entry
    finally:
        os.close(lock)
