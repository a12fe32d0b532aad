"""Ends a process whose native code keeps the interpreter's lock, so that no thread of ours can notice it."""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
from contextlib import suppress

MARGIN_SECONDS = 5.0
"""The thread that watches the loop goes first: it can say more."""


def prepare() -> None:
    """Let SIGPROF write the stack of every thread to stderr and then end the process."""
    with suppress(AttributeError, OSError, ValueError):  # no such signal here, or stderr is no file
        faulthandler.register(signal.SIGPROF, file=sys.stderr, all_threads=True, chain=True)


def postpone(seconds: float) -> None:
    """End the process after about this much processor time, unless called again first; 0 calls it off.

    Processor time, not time of day: a process that is frozen uses none. A regular expression that never
    finishes (the usual case) uses nothing else.
    """
    # All threads' time counts, so that native code on many cores must not use it up between two calls.
    enough = max(seconds + MARGIN_SECONDS, 3.0 * (os.cpu_count() or 1))
    with suppress(AttributeError, OSError):
        signal.setitimer(signal.ITIMER_PROF, enough if seconds else 0.0)
