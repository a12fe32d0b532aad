"""Hides what the collection of tests made from the garbage collector, which would look at it again."""

from __future__ import annotations

import gc


def pytest_collection_finish() -> None:
    """Modules, tests and their parameters live as long as the process."""
    gc.collect()
    gc.freeze()
