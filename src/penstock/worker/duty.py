"""A thing a worker does every so often: survives what goes wrong and starts and stops alone."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable

from penstock.db.connect import CONNECTION_LOST
from penstock.observe import get_logger

log = get_logger(__name__)


class Duty:
    """Runs `run_once` at once and then every `seconds`, with jitter so that workers do not march in step."""

    def __init__(self, name: str, seconds: float, run_once: Callable[[], Awaitable[None]]) -> None:
        self.name = name
        self.run_once = run_once
        self._seconds = seconds
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        self._task = asyncio.create_task(self._run(), name=f"penstock-{self.name}")

    async def stop(self) -> None:
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait([task])

    async def _run(self) -> None:
        while True:
            try:
                await self.run_once()
            except CONNECTION_LOST as error:
                log.throttled("database_lost", duty=self.name, error=error)
            except Exception as error:  # noqa: BLE001  # the next round may succeed; it is logged
                log.throttled("duty_failed", level="error", key=self.name, duty=self.name, error=error)
            await asyncio.sleep(self._seconds * random.uniform(0.85, 1.15))
