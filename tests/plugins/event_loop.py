"""Runs `async def` tests, each on its own loop, and fails a test that leaves a task behind."""

from __future__ import annotations

import asyncio
import inspect
import time

import pytest

GRACE_SECONDS = 1.0
LIBRARY_TASKS = ("_shutdown_watcher",)
"""sse-starlette, under the MCP servers of tests, polls until the loop ends."""


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = pyfuncitem._fixtureinfo.argnames
    arguments = {name: pyfuncitem.funcargs[name] for name in names}
    with asyncio.Runner() as runner:
        runner.run(pyfuncitem.obj(**arguments))
        left = runner.run(_tasks_left())
    if left:
        pytest.fail(f"the test left tasks behind: {', '.join(left)}", pytrace=False)
    return True


async def _tasks_left() -> list[str]:
    """What still runs after those that are already ending have ended."""
    deadline = time.monotonic() + GRACE_SECONDS
    while True:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        left = [
            repr(task) for task in others if getattr(task.get_coro(), "__name__", "") not in LIBRARY_TASKS
        ]
        if not left or time.monotonic() > deadline:
            return left
        await asyncio.sleep(0.01)
