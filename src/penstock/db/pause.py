"""Sleeps between two polls, unless the task was cancelled and the driver lost the cancellation."""

from __future__ import annotations

import asyncio


async def pause(seconds: float) -> None:
    """Sleep; raise CancelledError when this task was cancelled before.

    Up to Python 3.11 `asyncio.wait_for`, which the driver uses to connect, drops a cancellation that arrives
    together with its result: Ctrl-C would be ignored.
    """
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError
    await asyncio.sleep(seconds)
