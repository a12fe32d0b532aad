"""A limit of requests in a window of time, as the vendors have them; off unless a test sets one."""

from __future__ import annotations

from collections import deque
from datetime import datetime, timedelta


class Limiter:
    """At most `requests` in `seconds`; requests none: no limit."""

    def __init__(self) -> None:
        self.requests: int | None = None
        self.seconds = 10.0
        self._seen: deque[datetime] = deque()

    def set(self, requests: int | None, seconds: float = 10.0) -> None:
        self.requests, self.seconds = requests, seconds
        self._seen.clear()

    def wait(self, now: datetime) -> float:
        """Count a request and return 0, or the seconds until one is allowed again."""
        if self.requests is None:
            return 0.0
        window = timedelta(seconds=self.seconds)
        while self._seen and now - self._seen[0] >= window:
            self._seen.popleft()
        if len(self._seen) >= self.requests:
            return (self._seen[0] + window - now).total_seconds()
        self._seen.append(now)
        return 0.0
