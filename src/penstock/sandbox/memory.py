"""How much memory a call and its children use, where /proc is available."""

from __future__ import annotations

import os
from collections.abc import Iterator

_COUNTED = (b"RssAnon:", b"RssShmem:")
_PIECE = 16_384


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
    folder = f"/proc/{process}/task"
    try:
        threads = os.listdir(folder)
    except OSError:  # it ended
        return
    for thread in threads:
        yield from map(int, _read(f"{folder}/{thread}/children").split())


def _held(process: int) -> int:
    lines = _read(f"/proc/{process}/status").splitlines()
    return sum(int(line.split()[1]) * 1_024 for line in lines if line.startswith(_COUNTED))


def _read(path: str) -> bytes:
    """All of it, without the cost of a file object; empty if it is gone."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return b""
    pieces = []
    try:
        while piece := os.read(descriptor, _PIECE):
            pieces.append(piece)
    except OSError:
        return b""
    finally:
        os.close(descriptor)
    return b"".join(pieces)
