"""Ends a process whose native code holds the interpreter's lock, so that no Python thread can notice it."""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
from contextlib import suppress

MARGIN_SECONDS = 5.0
"""The thread that watches the loop should act first: it can report more."""


def prepare() -> None:
    """Make SIGPROF write the stack of every thread to stderr and then end the process."""
    with suppress(AttributeError, OSError, ValueError):  # no such signal here, or stderr is not a file
        faulthandler.register(signal.SIGPROF, file=sys.stderr, all_threads=True, chain=True)


def postpone(seconds: float) -> None:
    """End the process after about this much CPU time, unless called again first; 0 cancels it.

    CPU time, not wall-clock time: a frozen process uses none, and a regular expression that never finishes
    (the usual case) uses only that.
    """
    # The time of all threads counts, so native code on many cores must not use it up between two calls.
    enough = max(seconds + MARGIN_SECONDS, 3.0 * (os.cpu_count() or 1))
    with suppress(AttributeError, OSError):
        signal.setitimer(signal.ITIMER_PROF, enough if seconds else 0.0)
