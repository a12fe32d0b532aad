"""Whether what tests write fits into memory, where a clone of a database takes a tenth of the time."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

MEMORY = Path("/dev/shm")  # noqa: S108  # tmpfs on every Linux; folders in it are made for one user
NEEDED_BYTES = 2 * 1024**3
"""Databases and write-ahead log of a run stay well below half of it; the tests need memory too."""


def server_folder() -> Path:
    """Where a server for tests keeps its data: in memory if there is room and TMPDIR names no folder."""
    if "TMPDIR" not in os.environ and fits_into_memory(NEEDED_BYTES):
        return MEMORY
    return Path(tempfile.gettempdir())


def fits_into_memory(needed_bytes: int) -> bool:
    """Whether this much is free, both of the folder's own size and of the machine's memory."""
    try:
        free = shutil.disk_usage(MEMORY).free
        told = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return False
    available = next((int(line.split()[1]) * 1024 for line in told if line.startswith("MemAvailable:")), 0)
    return os.access(MEMORY, os.W_OK) and min(free, available) >= needed_bytes
