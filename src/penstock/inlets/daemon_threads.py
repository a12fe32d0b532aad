"""Calls that block, each in a thread that nobody waits for at the end of the process."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")


async def in_daemon_thread(call: Callable[[], T], unwanted: Callable[[T], object] = lambda _: None) -> T:
    """The call's result. If this is cancelled, the call goes on, and `unwanted` gets its result in a thread.

    A pool's threads are joined when the process exits, and a long poll takes 20 seconds.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def succeed(result: T) -> None:
        if done.done():
            _start(lambda: unwanted(result))
        else:
            done.set_result(result)

    def fail(error: Exception) -> None:
        if not done.done():
            done.set_exception(error)

    def run() -> None:
        try:
            result = call()
        except Exception as raised:  # noqa: BLE001  # it is raised where the result is awaited
            error = raised  # the name of an except clause is gone before the loop looks at it
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(lambda: fail(error))
            return
        try:
            loop.call_soon_threadsafe(succeed, result)
        except RuntimeError:  # the loop is closed
            unwanted(result)

    _start(run)
    try:
        return await done
    except asyncio.CancelledError:
        if done.done() and not done.cancelled() and done.exception() is None:
            # It was cancelled after the answer had come, and before it was woken.
            result = done.result()
            _start(lambda: unwanted(result))
        raise


def _start(target: Callable[[], object]) -> None:
    threading.Thread(target=target, name="penstock-inlet", daemon=True).start()
