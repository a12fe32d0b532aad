"""SIGTERM and SIGINT as events, while a worker runs."""

from __future__ import annotations

import asyncio
import signal
from contextlib import suppress


class StopSignals:
    """The first signal sets the first event, the next one the second; the old handlers are restored at
    exit."""

    def __init__(self, stopping: asyncio.Event, hurrying: asyncio.Event) -> None:
        self._stopping = stopping
        self._hurrying = hurrying

    def __enter__(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            # Not the main thread, or a platform without them: the caller stops us by cancelling.
            with suppress(NotImplementedError, RuntimeError, ValueError):
                loop.add_signal_handler(number, self._received)

    def __exit__(self, *_: object) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            # As above: where none could be added, none can be removed.
            with suppress(NotImplementedError, RuntimeError, ValueError):
                loop.remove_signal_handler(number)

    def _received(self) -> None:
        (self._hurrying if self._stopping.is_set() else self._stopping).set()
