"""Calls of inlets that block: what comes after they were given up is shown to others."""

from __future__ import annotations

import asyncio
import threading

import pytest

from penstock.inlets.daemon_threads import in_daemon_thread


def join_inlet_threads() -> None:
    """Without letting the loop turn."""
    for thread in threading.enumerate():
        if thread.name == "penstock-inlet":
            thread.join(10)


async def test_what_comes_after_the_call_was_given_up_needs_no_loop() -> None:
    release, shown = threading.Event(), list[str]()

    def call() -> str:
        release.wait(10)
        return "late"

    calling = asyncio.create_task(in_daemon_thread(call, shown.append))
    await asyncio.sleep(0)
    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling
    release.set()
    join_inlet_threads()
    assert shown == ["late"]


async def test_what_came_just_before_is_shown_once() -> None:
    shown: list[str] = []
    calling = asyncio.create_task(in_daemon_thread(lambda: "unseen", shown.append))
    await asyncio.sleep(0)
    join_inlet_threads()  # it has answered, and nobody was woken yet
    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling
    join_inlet_threads()
    assert shown == ["unseen"]
