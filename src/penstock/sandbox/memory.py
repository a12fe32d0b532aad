"""How much memory a call and its children use, where /proc is available."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

_COUNTED = (b"RssAnon:", b"RssShmem:")


def held_by_calls(server: int) -> int:
    """Bytes used below the process that forks calls, beyond what they inherited; 0 without /proc."""
    below = [_held(process) for process in _below(server)]
    return max(0, sum(below) - _held(server)) if below else 0


def server_below(keeper: int) -> int:
    """The one child of a keeper, as this process numbers it; 0 when it has none."""
    return next(children_of(keeper), 0)


def _below(process: int) -> Iterator[int]:
    for child in children_of(process):
        yield child
        yield from _below(child)


def children_of(process: int) -> Iterator[int]:
    for thread in Path(f"/proc/{process}/task").glob("*/children"):
        with contextlib.suppress(OSError):  # it ended
            yield from map(int, thread.read_bytes().split())


def _held(process: int) -> int:
    try:
        lines = Path(f"/proc/{process}/status").read_bytes().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1_024 for line in lines if line.startswith(_COUNTED))
