"""Measures how fast and how large a queue's tasks arrive, to decide on prefetch and on NOTIFY or polling."""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic

FAST = 400.0
"""Tasks per second above which a worker polls: NOTIFY serialises the producers' commits, and below it a poll
every two milliseconds would find nothing more often than not."""


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
        self._ended = 0
        self._payload = 0.0
        self.known = False
        """Something was claimed, so that there is a size to go by."""

    def claimed(self, sizes: Sequence[int]) -> None:
        """A claim returned payloads of these sizes."""
        self._now.took(len(sizes))
        self._lately.took(len(sizes))
        if sizes:
            self._payload = sum(sizes) / len(sizes)
            self.known = True

    def fit(self, size: int) -> int:
        """How many payloads like those of the last claim are as large as this together."""
        return int(size / max(self._payload, 1.0))

    def run_rate(self, ended: int) -> float:
        """Runs ended per second; the numbers claimed and started say nothing about how long runs take."""
        self._runs.took(max(0, ended - self._ended))
        self._ended = ended
        return self._runs.value

    @property
    def fast(self) -> bool:
        return self._lately.value > FAST or self._now.value > 8 * FAST
