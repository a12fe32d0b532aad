"""Fails a test that leaves a child process behind."""

from __future__ import annotations

from collections.abc import Iterator

import psutil
import pytest

GRACE_SECONDS = 2.0


@pytest.fixture(autouse=True)
def no_child_left() -> Iterator[None]:
    before = {child.pid for child in psutil.Process().children()}
    yield
    started = [
        child for child in psutil.Process().children() if child.pid not in before and not _harmless(child)
    ]
    _, left = psutil.wait_procs(started, timeout=GRACE_SECONDS)
    left = [child for child in left if child.is_running()]
    if left:
        described = ", ".join(f"{child.pid} {' '.join(child.cmdline())}" for child in left)
        for child in left:
            child.kill()
        psutil.wait_procs(left, timeout=GRACE_SECONDS)
        pytest.fail(f"the test left processes behind: {described}", pytrace=False)


def _harmless(child: psutil.Process) -> bool:
    """multiprocessing keeps one tracker for the life of the interpreter."""
    try:
        return any("resource_tracker" in part for part in child.cmdline())
    except psutil.Error:
        return True
