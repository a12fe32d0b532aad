"""When the next waiting row of a queue is due, as far as it is known: asking costs a question a task."""

from __future__ import annotations

from time import monotonic


class NextDue:
    """Known from an answer until something changes, also while the question was under way."""

    def __init__(self) -> None:
        self._changes = 0
        self._at: float | None = None
        self.known = False

    def forget(self) -> None:
        """Something was put into waiting, or taken out, or its time has come."""
        self._changes += 1
        self.known = False

    def ask(self) -> int:
        """What to give back with the answer."""
        return self._changes

    def answer(self, asked: int, seconds: float | None) -> None:
        """Seconds until the next is due, None for nothing; outdated if something changed meanwhile."""
        self._at = None if seconds is None else monotonic() + seconds
        self.known = asked == self._changes

    @property
    def seconds(self) -> float | None:
        """Seconds from now, not below zero."""
        return None if self._at is None else max(0.0, self._at - monotonic())
