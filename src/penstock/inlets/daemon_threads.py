"""Calls that block, each in a thread that nobody waits for at the end of the process."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")


async def in_daemon_thread(call: Callable[[], T]) -> T:
    """The call's result. If this is cancelled, the call goes on and its result is dropped.

    A pool's threads are joined when the process exits, and a long poll takes 20 seconds.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def settle(result: T | None, error: BaseException | None) -> None:
        if done.done():
            return
        if error is None:
            done.set_result(result)  # type: ignore[arg-type]  # it is T where there is no error
        else:
            done.set_exception(error)

    def run() -> None:
        result, error = None, None
        try:
            result = call()
        except Exception as raised:  # noqa: BLE001  # it is raised where the result is awaited
            error = raised
        with suppress(RuntimeError):  # the loop is closed: nobody wants it any more
            loop.call_soon_threadsafe(settle, result, error)

    threading.Thread(target=run, name="penstock-inlet", daemon=True).start()
    return await done
