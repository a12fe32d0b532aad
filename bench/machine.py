"""Describes the machine and the versions a run was measured with."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

FSYNC_TRIES = 100


def fsync_microseconds(directory: Path | None) -> float:
    """What one small durable write costs here; a figure near zero means the disk only pretends."""
    with tempfile.TemporaryFile(dir=directory) as file:
        times = []
        for _ in range(FSYNC_TRIES):
            file.write(b"\0" * 8192)
            file.flush()
            started = time.perf_counter()
            os.fdatasync(file.fileno())
            times.append(time.perf_counter() - started)
    return statistics.median(times) * 1_000_000


def describe(directory: Path | None) -> dict[str, str | int | float]:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "cores": len(os.sched_getaffinity(0)),
        "memory_gib": round(memory / 2**30, 1),
        "system": f"{platform.system()} {platform.machine()}",
        "load_before": round(os.getloadavg()[0], 2),
        "fdatasync_us": round(fsync_microseconds(directory), 1),
    }


def versions(packages: Iterable[str], postgres: str | None) -> dict[str, str]:
    found = {"python": platform.python_version()}
    if postgres is not None:
        found["postgres"] = postgres
    for package in sorted(set(packages)):
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = "from source"
    return found
