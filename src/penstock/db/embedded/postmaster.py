"""Finds who uses a cluster's folder: the live server, its orphans, or only a dead server's files."""

from __future__ import annotations

import os
import time
from pathlib import Path

PROC = Path("/proc")


def running_postmaster(pgdata: Path) -> int | None:
    """The server's process id, or None when the pid file is stale."""
    try:
        pid = int((pgdata / "postmaster.pid").read_text().split("\n", 1)[0])
    except (OSError, ValueError):
        return None
    return pid if _is_postgres(pid) else None


def clear_dead_server(pgdata: Path, socket: Path, seconds: float) -> None:
    """Wait for the orphans of a killed server, then remove the files that would block the next start.

    Postgres takes a recorded process that exists for a running server, although it may be a zombie that
    nobody reaps or, after a container's restart, another program under the same number.
    """
    if not (PROC / "self" / "cwd").exists():
        return  # without /proc, leave the decision to Postgres
    deadline = time.monotonic() + seconds
    while _at_work(pgdata):
        if time.monotonic() > deadline:
            return
        time.sleep(0.05)
    for lock in (pgdata / "postmaster.pid", socket.with_name(f"{socket.name}.lock"), socket):
        lock.unlink(missing_ok=True)


def _at_work(pgdata: Path) -> bool:
    """Whether a live process has the folder as its working directory, as every process of a server does."""
    folder = str(pgdata.resolve())
    for entry in PROC.iterdir():
        if entry.name.isdigit():
            try:
                if str((entry / "cwd").readlink()) == folder and _is_postgres(int(entry.name)):
                    return True
            except OSError:
                continue
    return False


def _is_postgres(pid: int) -> bool:
    if (PROC / "self" / "stat").exists():
        try:
            name, state = (PROC / str(pid) / "stat").read_text().rsplit(") ", 1)
        except OSError:
            return False
        # A zombie is dead, even where the first process of a container never reaps it.
        return name.endswith("(postgres") and state[0] not in "ZX"
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
