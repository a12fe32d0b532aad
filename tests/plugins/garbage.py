"""Keeps the garbage collector away from what the collection of tests makes: it would look at it again and again."""

from __future__ import annotations

import gc

import pytest

SELDOM = (5_000, 10, 10)
"""Instead of after 700 new objects: most are gone by then, and what a test leaves is found soon enough."""

gc.disable()  # modules, tests and their parameters live as long as the process: until they are there, nothing is garbage


def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop() -> None:
    """In the workers of a run and in the process that leads them, which collects no tests."""
    gc.set_threshold(*SELDOM)
    gc.enable()
