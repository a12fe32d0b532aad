"""Runs long tests first, so that a run does not end with one processor at work on the last of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import pytest

T = TypeVar("T")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """After pytest-randomly has shuffled; long is a test that is allowed more time than the others."""
    allowed = float(config.getini("timeout") or 0)

    def is_long(item: pytest.Item) -> bool:
        mark = item.get_closest_marker("timeout")
        return mark is not None and bool(mark.args) and mark.args[0] > allowed

    def file_of(item: pytest.Item) -> Path | str:
        # The tests of the console share a site and a browser over all their files.
        return "site" if "site" in getattr(item, "fixturenames", ()) else item.path

    if (workers := getattr(config, "workerinput", {}).get("workercount", 1)) > 1:
        together = sorted(items, key=lambda item: file_of(item) == "site", reverse=True)
        items[:] = long_first(together, is_long, file_of, workers)


def long_first(
    items: Sequence[T], is_long: Callable[[T], bool], file_of: Callable[[T], Any], workers: int
) -> list[T]:
    """Each worker's share of the list (`--dist worksteal` deals it out in one piece) begins with long tests.

    The long tests of a file stay together: they may share a fixture.
    """
    long = [item for item in items if is_long(item)]
    files = [list(group) for _, group in groupby(long, file_of)]
    first: list[list[T]] = [[] for _ in range(workers)]
    for tests in sorted(files, key=len, reverse=True):
        min(first, key=len).extend(tests)
    others = [item for item in items if not is_long(item)]
    shares: list[T] = []
    left = len(items)
    for number, mine in enumerate(first):
        size = left // (workers - number)
        left -= size
        room = max(0, size - len(mine))
        shares += mine + others[:room]
        del others[:room]
    return shares + others
