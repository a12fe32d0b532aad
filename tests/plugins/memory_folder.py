"""Puts what a run writes into memory where there is room: a clone of a database takes a tenth of the time."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

MEMORY = Path("/dev/shm")  # tmpfs on every Linux
NEEDED_BYTES = 6 * 1024**3
"""Databases, write-ahead log and files of a run stay well below half of it; the tests need memory too."""


def use_memory() -> None:
    """Make it the folder for temporary files, unless TMPDIR names one."""
    if "TMPDIR" not in os.environ and _has_room():
        os.environ["TMPDIR"] = str(MEMORY)
        tempfile.tempdir = None  # asked for before, it would stay what it was


def _has_room() -> bool:
    try:
        free = shutil.disk_usage(MEMORY).free
        told = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return False
    available = next((int(line.split()[1]) * 1024 for line in told if line.startswith("MemAvailable:")), 0)
    return os.access(MEMORY, os.W_OK) and min(free, available) >= NEEDED_BYTES
