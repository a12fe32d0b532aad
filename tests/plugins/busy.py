"""Limits of time that hold on a busy machine and stay tight on a quiet one."""

from __future__ import annotations

import os
from time import perf_counter, process_time

SPIN_SECONDS = 0.05
QUIET = 1.3
"""Up to this ratio of time to processor time the machine counts as quiet."""
MARGIN = 4.0
MOST = 16.0
"""No limit is stretched further: a broken promise fails a test within minutes on any machine."""


def stretched(seconds: float) -> float:
    """The limit; on a busy machine, times how much slower than alone this process runs, and a margin.

    It may have been busy a moment ago and be quiet now, so the load of the last minute counts too.
    """
    began, begun = perf_counter(), process_time()
    while process_time() - begun < SPIN_SECONDS:
        pass
    ratio = max((perf_counter() - began) / SPIN_SECONDS, os.getloadavg()[0] / (os.cpu_count() or 1))
    return seconds if ratio < QUIET else seconds * min(ratio * MARGIN, MOST)
