"""A histogram of task durations, cheap enough to update for every task."""

from bisect import bisect_left
from math import inf
from typing import Final

# From a no-op task (a millisecond) to a scanned PDF through OCR (ten minutes).
BOUNDS: Final[tuple[float, ...]] = (
    0.001,
    0.005,
    0.01,
    0.025,
    0.05,
    0.1,
    0.25,
    0.5,
    1.0,
    2.5,
    5.0,
    10.0,
    30.0,
    60.0,
    120.0,
    300.0,
    600.0,
)
BUCKETS: Final = len(BOUNDS) + 1


class Durations:
    """Durations of one job type since the last `drain`; belongs to one thread."""

    __slots__ = ("_counts", "_total")

    def __init__(self) -> None:
        self._counts = [0] * BUCKETS
        self._total = 0.0

    def observe(self, seconds: float) -> None:
        self._counts[bisect_left(BOUNDS, seconds)] += 1
        # One NaN, infinity or clock jump would corrupt the sum for the life of the process.
        if 0.0 < seconds < inf:
            self._total += seconds

    def drain(self) -> tuple[list[int], float]:
        """Counts per bucket (not cumulative) and the sum of seconds, then start again from zero."""
        taken = (self._counts, self._total)
        self._counts = [0] * BUCKETS
        self._total = 0.0
        return taken
