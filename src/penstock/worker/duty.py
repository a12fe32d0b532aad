"""A periodic duty of a worker: survives errors, and starts and stops independently."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable

from penstock.db.connect import CONNECTION_LOST
from penstock.observe import get_logger
from penstock.worker.service_task import ServiceTask

log = get_logger(__name__)


class Duty:
    """Runs `run_once` immediately and then every `seconds`, with jitter to keep workers out of step."""

    def __init__(self, name: str, seconds: float, run_once: Callable[[], Awaitable[None]]) -> None:
        self.name = name
        self.run_once = run_once
        self._seconds = seconds
        self._task = ServiceTask()

    async def start(self) -> None:
        self._task.start(self._run(), self.name)

    async def stop(self) -> None:
        await self._task.stop()

    async def _run(self) -> None:
        while True:
            try:
                await self.run_once()
            except CONNECTION_LOST as error:
                log.throttled("database_lost", duty=self.name, error=error)
            except Exception as error:  # noqa: BLE001  # the next round may succeed; it is logged
                log.throttled("duty_failed", level="error", key=self.name, duty=self.name, error=error)
            await asyncio.sleep(self._seconds * random.uniform(0.85, 1.15))
