"""Task types whose handlers keep what they raise, for the test to see it as it was."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from copy import copy
from functools import wraps
from typing import Any

from penstock.queue.registry import Registry
from penstock.queue.task_type import TaskType

_PASSED_ON = (Exception, asyncio.CancelledError, SystemExit, KeyboardInterrupt)


class HandlerStopped(Exception):
    """A handler ended by pytest.fail() or pytest.skip(), which are no errors to a worker."""


class Recorder:
    """One run at a time; `raised` is what the last handler raised."""

    def __init__(self) -> None:
        self.raised: BaseException | None = None

    def registry(self, registries: Iterable[Registry]) -> Registry:
        """All their task types with recording handlers; of two with one name the first counts."""
        together = Registry()
        for registry in registries:
            for name, task_type in registry.types.items():
                together.types.setdefault(name, self._recording(task_type))
            together.schedules.update(registry.schedules)
        return together

    def _recording(self, task_type: TaskType[Any]) -> TaskType[Any]:
        recording = copy(task_type)
        handler: Callable[..., Any] = task_type.handler

        @wraps(handler)
        async def run(*arguments: Any) -> Any:
            try:
                return await handler(*arguments)
            except BaseException as error:
                self._keep(error)
                raise

        @wraps(handler)
        def run_in_thread(*arguments: Any) -> Any:
            try:
                return handler(*arguments)
            except BaseException as error:
                self._keep(error)
                raise

        recording.handler = run if task_type.is_async else run_in_thread
        return recording

    def _keep(self, error: BaseException) -> None:
        if not isinstance(error, asyncio.CancelledError):
            self.raised = error
        if not isinstance(error, _PASSED_ON):
            raise HandlerStopped(str(error)) from error
