"""Signals to the children of an event loop."""

from __future__ import annotations

import contextlib
import os
import signal
from asyncio.subprocess import Process


def send(process: Process, number: signal.Signals) -> None:
    """Send a signal unless the child has ended.

    The process's own `kill` and `terminate` first ask whether it has ended. One that just has would be reaped
    by that, behind the back of the event loop, which then reports exit code 255.
    """
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, number)
