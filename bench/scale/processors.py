"""Processors shared by their jobs: n jobs on c cores run at c / n of full speed, at most at full speed."""

from __future__ import annotations

import heapq


class Processors:
    """Egalitarian processor sharing in virtual time: adding a job and ending one take O(log n)."""

    __slots__ = ("_at", "_jobs", "_virtual", "cores", "others", "version", "work")

    def __init__(self, cores: float, others: float = 0.0) -> None:
        """`others`: how many jobs that are not ours want these cores all the time."""
        self.cores = cores
        self.others = others
        self.work = 0.0
        """Seconds of work added so far."""
        self.version = 0
        """Changes with every job that comes or goes: an end announced before that is no longer true."""
        self._at = 0.0
        self._virtual = 0.0
        self._jobs: list[tuple[float, int]] = []

    def add(self, now: float, seconds: float, job: int) -> None:
        self._advance(now)
        self.work += seconds
        self.version += 1
        heapq.heappush(self._jobs, (self._virtual + seconds, job))

    def end_first(self, now: float) -> int:
        """The job that ends now."""
        self._advance(now)
        self.version += 1
        return heapq.heappop(self._jobs)[1]

    def next_end(self, now: float) -> float | None:
        """When the next job ends, if nothing else comes; `now` must be the time of the last change."""
        if not self._jobs:
            return None
        return now + max(0.0, self._jobs[0][0] - self._virtual) / self._rate

    @property
    def _rate(self) -> float:
        return min(1.0, self.cores / (len(self._jobs) + self.others))

    def _advance(self, now: float) -> None:
        if self._jobs:
            self._virtual += (now - self._at) * self._rate
        self._at = now
