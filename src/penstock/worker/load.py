"""Measures how fast a queue's tasks arrive: decides how much to prefetch, and between NOTIFY and polling."""

from __future__ import annotations

from time import monotonic

FAST = 250.0
"""Tasks per second above which a worker polls: NOTIFY serialises the producers' commits."""


class Rate:
    """Tasks per second over windows of a fixed length."""

    def __init__(self, window: float) -> None:
        self._window = window
        self._since = monotonic()
        self._count = 0
        self._rate = 0.0

    def took(self, count: int) -> None:
        self._count += count
        self._turn()

    @property
    def value(self) -> float:
        self._turn()
        return self._rate

    def _turn(self) -> None:
        passed = monotonic() - self._since
        if passed >= self._window:
            self._rate = self._count / passed
            self._count = 0
            self._since += passed


class Load:
    """A short window follows a burst within milliseconds; a long one ignores brief spikes."""

    def __init__(self) -> None:
        self._now = Rate(0.02)
        self._lately = Rate(0.2)
        self._runs = Rate(0.02)
        self._started = 0

    def claimed(self, count: int) -> None:
        self._now.took(count)
        self._lately.took(count)

    def run_rate(self, started: int) -> float:
        """Runs started per second; the number claimed says nothing about how long runs take."""
        self._runs.took(started - self._started)
        self._started = started
        return self._runs.value

    @property
    def fast(self) -> bool:
        return self._lately.value > FAST or self._now.value > 8 * FAST
