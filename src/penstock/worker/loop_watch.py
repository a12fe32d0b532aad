"""Detects from another thread whether an event loop is blocked, and what every thread is doing then."""

from __future__ import annotations

import asyncio
import sys
import threading
import traceback
from collections.abc import Callable
from time import monotonic
from types import FrameType

LOOP_FRAMES = 30
OTHER_FRAMES = 10
DEBUGGERS = ("bdb", "pdb", "pydevd", "_pydevd_bundle", "_pydevd_frame_eval", "debugpy")


class LoopWatch:
    """Call `stalled()` every `tick` seconds; it is True once the loop has been blocked for `limit` seconds.

    Only time in which the watching thread itself ran is counted: a SIGSTOP or a suspended machine adds at
    most two ticks, however long it lasts.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        limit: float,
        clock: Callable[[], float] = monotonic,
        thread_id: int | None = None,
    ) -> None:
        """`thread_id`: the loop's thread; if unset, learned from its first response."""
        self._loop = loop
        self._limit = limit
        self._clock = clock
        self.tick = min(1.0, limit / 5)
        self._thread_id = thread_id
        self._answered = True
        self._looked_at = clock()
        self.silent = 0.0
        """Seconds without a response so far."""

    def stalled(self) -> bool:
        """Send another callback if the last one ran; else add the time since the last check."""
        now = self._clock()
        passed, self._looked_at = now - self._looked_at, now
        if self._answered:
            self.silent = 0.0
            self._answered = False
            try:
                self._loop.call_soon_threadsafe(self._answer)
            except RuntimeError:  # closed: there is nothing left to watch
                self._answered = True
            return False
        self.silent += min(passed, 2 * self.tick)
        return self.silent >= self._limit

    def restart(self) -> None:
        """Start counting again."""
        self.silent = 0.0

    def in_debugger(self) -> bool:
        """Whether the loop's thread is stopped in a debugger."""
        frame = sys._current_frames().get(self._thread_id or 0)
        while frame is not None:
            if str(frame.f_globals.get("__name__", "")).partition(".")[0] in DEBUGGERS:
                return True
            frame = frame.f_back
        return False

    def stacks(self) -> dict[str, list[str]]:
        """The stack of each thread, innermost call last, the loop's thread first. No values, no source."""
        names = {thread.ident: thread.name for thread in threading.enumerate()}
        frames = sorted(sys._current_frames().items(), key=lambda each: each[0] != self._thread_id)
        return {
            f"{names.get(number, 'thread')} ({number})": _places(
                frame, LOOP_FRAMES if number == self._thread_id else OTHER_FRAMES
            )
            for number, frame in frames
        }

    def _answer(self) -> None:
        self._thread_id = threading.get_ident()
        self._answered = True


def _places(frame: FrameType, count: int) -> list[str]:
    calls = [(each.f_code, line) for each, line in traceback.walk_stack(frame)][:count]
    return [f"{code.co_filename}:{line} in {code.co_name}" for code, line in reversed(calls)]
