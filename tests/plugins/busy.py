"""Limits of time that hold on a busy machine and stay tight on a quiet one."""

from __future__ import annotations

import os
from time import perf_counter, process_time

SPIN_SECONDS = 0.05
STEPS = 100_000
STEPS_SECONDS = 0.0014
"""Of the processor, for adding up this many numbers, on the machine the limits were set on."""
QUIET = 1.3
"""Up to this ratio of time to processor time the machine counts as quiet."""
MARGIN = 4.0
MOST = 16.0
"""No limit is stretched further: a broken promise fails a test within minutes on any machine."""


def stretched(seconds: float) -> float:
    """The limit; on a busy machine, times how much slower than alone this process runs, and a margin.

    It may have been busy a moment ago and be quiet now, so the load of the last minute counts too. A shared
    processor slows down also without load that is seen here: the limit grows with the time of a fixed work.
    """
    began, begun = perf_counter(), process_time()
    while process_time() - begun < SPIN_SECONDS:
        pass
    waiting = max((perf_counter() - began) / SPIN_SECONDS, os.getloadavg()[0] / (os.cpu_count() or 1))
    delay = 1.0 if waiting < QUIET else waiting * MARGIN
    return seconds * min(delay * max(_slowness(), 1.0), MOST)


def _slowness() -> float:
    """Times as long as usual for the same work, by the processor's clock."""
    tries = []
    for _ in range(3):
        begun = process_time()
        sum(range(STEPS))
        tries.append(process_time() - begun)
    return min(tries) / STEPS_SECONDS
