"""Lets Python look for reference cycles less often while a document is read."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_NEW_OBJECTS = 20_000
"""How many new objects there are before Python looks through them. By default it is 700: a page of text."""


@contextmanager
def collected_seldom() -> Iterator[None]:
    """The blocks of a document form no cycles, and each collection would look at many of them in vain."""
    before = gc.get_threshold()
    gc.set_threshold(_NEW_OBJECTS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
