"""Keeps warm children and lends one to each call."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import TypeVar

from penstock.observe import get_logger
from penstock.sandbox.errors import SandboxClosed, SandboxError
from penstock.sandbox.frames import MEGABYTE, Request
from penstock.sandbox.memory import held_bytes
from penstock.sandbox.process import Child

log = get_logger(__name__)

T = TypeVar("T")

RUNS_A_CHILD = 500
"""Then it is replaced: native libraries leak, and a leak must not grow for weeks."""
_FULL = 0.5
"""A child that keeps more than this share of its memory after a call is replaced as well."""


class Sandbox:
    """Runs picklable module-level functions in child processes that may be killed at any time.

    A child that crashed, hung or outgrew its memory is replaced while nobody waits for it; the call it broke
    gets a SandboxError, all other calls notice nothing.
    """

    def __init__(self, processes: int, *, memory_mb: int, preload: Sequence[str] = ()) -> None:
        self._processes = processes
        self._memory_mb = memory_mb
        self._preload = tuple(preload)
        # A seat without a child is one whose replacement did not start; the next call tries again.
        self._seats: asyncio.Queue[Child | None] = asyncio.Queue()
        self._children: set[Child] = set()
        self._background: set[asyncio.Task[None]] = set()
        self._open = False

    @property
    def pids(self) -> tuple[int, ...]:
        """The processes that live now."""
        return tuple(child.pid for child in self._children if not child.dead)

    async def start(self) -> None:
        """Start all children and wait until each has imported what it preloads."""
        self._open = True
        try:
            for child in await asyncio.gather(*(self._hire() for _ in range(self._processes))):
                self._seats.put_nowait(child)
        except BaseException:
            await self.close()
            raise

    async def run(
        self,
        function: Callable[..., T],
        *args: object,
        seconds: float,
        output_mb: int = 256,
        file_mb: int = 512,
    ) -> T:
        """Run `function(*args)` in a child. The clock starts when a child takes it, not while it queues.

        What the function raises is raised here; a SandboxError says that it did not come to an end.
        Cancelling kills the child.
        """
        if not self._open:
            raise SandboxClosed
        child = await self._seats.get()
        try:
            if child is None or child.dead:
                self._let_go(child)
                child = None
                child = await self._hire()
            result: T = await child.run(Request(function, args, output_mb, file_mb), seconds)
            return result
        except SandboxError as error:
            if not self._open:
                raise SandboxClosed from error
            raise
        finally:
            self._take_back(child)

    async def close(self) -> None:
        """Kill every child and wait until they are gone; calls that still run raise SandboxClosed."""
        self._open = False
        for child in self._children:
            child.kill()
        for task in self._background:
            task.cancel()
        await asyncio.gather(*self._background, return_exceptions=True)
        await asyncio.gather(*(child.close() for child in self._children))
        self._children.clear()

    async def _hire(self) -> Child:
        if not self._open:
            raise SandboxClosed
        child = Child(self._memory_mb)
        self._children.add(child)
        try:
            await child.greet(self._preload)
        except BaseException:
            self._let_go(child)
            raise
        return child

    def _take_back(self, child: Child | None) -> None:
        if not self._open:
            return
        if child is not None and not child.dead and not self._worn(child):
            self._seats.put_nowait(child)
        else:
            self._let_go(child)
            self._do(self._replace())

    def _worn(self, child: Child) -> bool:
        return child.runs >= RUNS_A_CHILD or held_bytes(child.pid) > self._memory_mb * MEGABYTE * _FULL

    async def _replace(self) -> None:
        child: Child | None = None
        try:
            child = await self._hire()
        except (OSError, SandboxError) as error:
            log.warning("sandbox_child_not_started", error=str(error))
        self._seats.put_nowait(child)

    def _let_go(self, child: Child | None) -> None:
        if child is not None:
            child.kill()
            self._do(self._bury(child))

    async def _bury(self, child: Child) -> None:
        await child.close()
        self._children.discard(child)

    def _do(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)
