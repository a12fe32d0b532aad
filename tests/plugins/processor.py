"""Writes the processor time of each test to a file: on a busy machine wall time says little."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.plugins.server import postmaster_pid

OPTION = "--processor-times"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        OPTION,
        metavar="FILE",
        help="append the processor seconds of each test, children included, those of the shared Postgres "
        "(right only without -n), and the wall seconds",
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
        seconds = (_spent() - spent, _served() - served, time.monotonic() - began)
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
