"""Lets one of many identical log lines through per interval and counts the suppressed ones."""

import threading
import time
from collections.abc import Callable, Hashable

_KEYS_KEPT = 1_024


class Throttle:
    """Shared by the loggers of a process; `clock` is monotonic seconds."""

    __slots__ = ("_clock", "_lock", "_seen")

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._seen: dict[Hashable, tuple[float, int]] = {}

    def admit(self, key: Hashable, every: float) -> int | None:
        """How many were suppressed since the last admitted one, or None to suppress this one too."""
        now = self._clock()
        with self._lock:
            last, suppressed = self._seen.get(key, (None, 0))
            if last is not None and now - last < every:
                self._seen[key] = (last, suppressed + 1)
                return None
            # Re-inserted at the end, so that the first key is always the least recently admitted.
            self._seen.pop(key, None)
            self._seen[key] = (now, 0)
            if len(self._seen) > _KEYS_KEPT:
                del self._seen[next(iter(self._seen))]
            return suppressed
