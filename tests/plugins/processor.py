"""Processor time of tests: a limit, and a file of what each took; on a busy machine wall time says little."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.plugins.busy import stretched
from tests.plugins.server import postmaster_pid

OPTION = "--processor-times"
MOST_SECONDS = 8.0
"""Of the processor, for a test and the children it waited for; 5,000 tests have 20 minutes together."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        OPTION,
        metavar="FILE",
        help="append the processor seconds of each test, children included, those of the shared Postgres "
        "(right only without -n), and the wall seconds",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow(reason): takes more processor time than a test may, and why")


@pytest.fixture(autouse=True)
def processor_budget(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fails a test that takes more than its share, unless it is marked `slow` or `chaos`."""
    # The browser of the site ends with the last of its tests, and what it took would all be that test's.
    counted = 2 if "site" in request.fixturenames else 4
    before = sum(os.times()[:counted])
    yield
    spent = sum(os.times()[:counted]) - before
    if spent <= MOST_SECONDS or any(map(request.node.get_closest_marker, ("slow", "chaos"))):
        return
    if spent > stretched(MOST_SECONDS):
        pytest.fail(
            f"the test took {spent:.1f} s of processor time, more than {MOST_SECONDS:g}: prove the same with "
            'less, or mark it @pytest.mark.slow("why it cannot be cheaper")',
            pytrace=False,
        )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    file = item.config.getoption(OPTION)
    if file is None:
        return (yield)
    spent, served, began = _spent(), _served(), time.monotonic()
    try:
        return (yield)
    finally:
        # With the last test the server ends, and what it took is no longer to be read.
        seconds = (_spent() - spent, max(0.0, _served() - served), time.monotonic() - began)
        with Path(file).open("a") as times:
            times.write("\t".join([*(f"{each:.2f}" for each in seconds), f"{item.nodeid}\n"]))


def _spent() -> float:
    """Processor seconds of this process, of those below it and of those they have waited for."""
    return sum(os.times()[:4]) + _children(psutil.Process())


def _served() -> float:
    """Processor seconds of the server that all tests share."""
    pid = postmaster_pid()
    if pid is None:
        return 0.0
    try:
        postmaster = psutil.Process(pid)
        return sum(postmaster.cpu_times()[:4]) + _children(postmaster)
    except psutil.Error:
        return 0.0


def _children(process: psutil.Process) -> float:
    total = 0.0
    for child in process.children(recursive=True):
        try:
            total += sum(child.cpu_times()[:4])
        except psutil.Error:
            continue
    return total
