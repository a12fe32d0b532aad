"""How fast a queue's tasks come: decides between waiting for NOTIFY and polling closely."""

from __future__ import annotations

from time import monotonic

WINDOW = 0.02
FAST = 1_000.0
"""Tasks a second above which a worker stays awake: a NOTIFY in each commit would cost the producers."""


class Load:
    """A rate over windows of 20 ms."""

    def __init__(self) -> None:
        self._since = monotonic()
        self._count = 0
        self.rate = 0.0

    def took(self, count: int) -> None:
        self._count += count
        self._turn()

    @property
    def fast(self) -> bool:
        self._turn()
        return self.rate > FAST

    def _turn(self) -> None:
        passed = monotonic() - self._since
        if passed >= WINDOW:
            self.rate = self._count / passed
            self._count = 0
            self._since += passed
