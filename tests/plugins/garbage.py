"""Takes what the collection of tests made out of the garbage collector's sight: it would look at it again and again."""

from __future__ import annotations

import gc


def pytest_collection_finish() -> None:
    """Modules, tests and their parameters live as long as the process."""
    gc.collect()
    gc.freeze()
