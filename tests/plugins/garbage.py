"""Keeps the garbage collector away from what collecting the tests makes: it would look at it again."""

from __future__ import annotations

import gc

import pytest

SELDOM = (5_000, 10, 10)
"""Instead of after 700 new objects: most are gone by then, and what a test leaves is found soon enough."""

gc.disable()  # what collecting the tests makes lives as long as the process


def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop() -> None:
    """In the workers of a run and in the process that leads them, which collects no tests."""
    gc.set_threshold(*SELDOM)
    gc.enable()
