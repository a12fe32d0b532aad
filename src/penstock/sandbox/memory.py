"""How much memory a process and what it started hold, where the system tells."""

from __future__ import annotations

import os
from pathlib import Path

_PAGE = os.sysconf("SC_PAGE_SIZE")


def held_bytes(pid: int) -> int:
    """Memory of their own, in bytes; 0 where /proc is missing or the process is gone. Libraries shared by all
    children are not counted."""
    total, waiting = 0, [pid]
    while waiting:
        process = waiting.pop()
        try:
            fields = Path(f"/proc/{process}/statm").read_bytes().split()
            children = Path(f"/proc/{process}/task/{process}/children").read_bytes().split()
        except OSError:  # it ended, or there is no /proc
            continue
        total += (int(fields[1]) - int(fields[2])) * _PAGE
        waiting += map(int, children)
    return total
