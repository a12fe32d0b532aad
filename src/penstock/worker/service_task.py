"""The asyncio task of a service that runs until it is stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any


class ServiceTask:
    """At most one at a time; `stop` returns when it has ended."""

    def __init__(self) -> None:
        self._task: asyncio.Task[None] | None = None

    @property
    def started(self) -> bool:
        return self._task is not None

    def start(self, running: Coroutine[Any, Any, None], name: str) -> None:
        self._task = asyncio.create_task(running, name=f"penstock-{name}")

    async def stop(self) -> None:
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait([task])
