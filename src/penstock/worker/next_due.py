"""Caches when the next waiting row of a queue is due: asking for every task would be expensive."""

from __future__ import annotations

from time import monotonic


class NextDue:
    """Known from a response until something changes, even while the query is in progress."""

    def __init__(self) -> None:
        self._changes = 0
        self._at: float | None = None
        self.known = False

    def forget(self) -> None:
        """Something was added to or removed from waiting, or became due."""
        self._changes += 1
        self.known = False

    def ask(self) -> int:
        """A token to pass back with the response."""
        return self._changes

    def answer(self, asked: int, seconds: float | None) -> None:
        """Store the seconds until the next is due, None for nothing; ignored if anything changed since."""
        self._at = None if seconds is None else monotonic() + seconds
        self.known = asked == self._changes

    @property
    def seconds(self) -> float | None:
        """Seconds from now, not below zero."""
        return None if self._at is None else max(0.0, self._at - monotonic())
