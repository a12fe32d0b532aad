"""Looks up many notifications with one statement: those that arrive while one runs belong to the next."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

Key = TypeVar("Key")
Found = TypeVar("Found")


class Lookups(Generic[Key, Found]):
    """One statement at a time, for all that are waiting; equal ones are asked for once.

    A statement that began before a notification arrived may know nothing of it, so its answer is not used.
    """

    def __init__(self, look_up: Callable[[Sequence[Key]], Awaitable[Sequence[Found]]], most: int) -> None:
        """`most` is the number of keys of one statement."""
        self._look_up = look_up
        self._most = most
        self._waiting: dict[Key, asyncio.Future[Found]] = {}
        self._running: asyncio.Task[None] | None = None

    async def find(self, key: Key) -> Found:
        """What was found by a statement that began after this call."""
        future = self._waiting.get(key)
        if future is None:
            future = self._waiting[key] = asyncio.get_running_loop().create_future()
        if self._running is None:
            self._running = asyncio.create_task(self._run())
        return await asyncio.shield(future)  # a caller that leaves must not cancel it for the others

    async def _run(self) -> None:
        try:
            while self._waiting:
                keys = list(self._waiting)[: self._most]
                await self._answer({key: self._waiting.pop(key) for key in keys})
        finally:
            self._running = None

    async def _answer(self, asked: dict[Key, asyncio.Future[Found]]) -> None:
        try:
            found = await self._look_up(list(asked))
        except Exception as error:  # noqa: BLE001  # raised by every caller instead
            for future in asked.values():
                future.set_exception(error)
                future.exception()  # seen, even if every caller has left
        else:
            for future, answer in zip(asked.values(), found, strict=True):
                future.set_result(answer)
