"""Calls that block, each in a thread that nobody waits for at the end of the process."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TypeVar

T = TypeVar("T")


async def in_daemon_thread(call: Callable[[], T], unwanted: Callable[[T], object] = lambda _: None) -> T:
    """The call's result. If this is cancelled, the call goes on, and `unwanted` gets its result in a thread.

    A pool's threads are joined when the process exits, and a long poll takes 20 seconds.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()
    handing_over = threading.Lock()
    answers: list[T] = []
    given_up = False

    def succeed(result: T) -> None:
        if not done.done():
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
        with handing_over, suppress(RuntimeError):  # the loop is closed
            if not given_up:
                loop.call_soon_threadsafe(succeed, result)
                answers.append(result)
                return
        unwanted(result)

    _start(run)
    try:
        return await done
    except asyncio.CancelledError:
        with handing_over:
            given_up = True
        for answer in answers:  # it came, but we were cancelled before we were woken
            _start(partial(unwanted, answer))
        raise


def _start(target: Callable[[], object]) -> None:
    threading.Thread(target=target, name="penstock-inlet", daemon=True).start()
