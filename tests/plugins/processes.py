"""Fails a test that leaves a child process behind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.plugins.forked import server_pids

GRACE_SECONDS = 2.0


@pytest.fixture(autouse=True)
def no_child_left(request: pytest.FixtureRequest) -> Iterator[None]:
    if "site" in request.fixturenames:  # its parsers and its browser are for all tests, and end with it
        yield
        return
    before = child_pids()
    yield
    if child_pids() <= before:
        return
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


def child_pids() -> set[int]:
    """The processes that any thread of ours started; psutil reads every process of the machine for it."""
    try:
        lists = [(task / "children").read_text() for task in Path("/proc/self/task").iterdir()]
    except OSError:  # a thread has just ended, or this is no Linux
        return {child.pid for child in psutil.Process().children()}
    return {int(pid) for pids in lists for pid in pids.split()}


def _harmless(child: psutil.Process) -> bool:
    """multiprocessing keeps one tracker, and we our fork servers, for the life of the interpreter."""
    if child.pid in server_pids():
        return True
    try:
        return any("resource_tracker" in part for part in child.cmdline())
    except psutil.Error:
        return True
