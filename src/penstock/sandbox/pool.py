"""A pool of warm child processes, one per running call."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from time import monotonic
from typing import Any, TypeVar

from penstock.observe import get_logger
from penstock.sandbox.calls import name_of
from penstock.sandbox.errors import SandboxClosed, SandboxError
from penstock.sandbox.fair_slots import FairSlots, Owner
from penstock.sandbox.layers import Layers
from penstock.sandbox.process import SandboxProcess
from penstock.sandbox.request import Outgoing

log = get_logger(__name__)

T = TypeVar("T")

RESERVE_AFTER_SECONDS = 0.3
RESERVE_FOR_SECONDS = 60.0
"""When one owner occupies all children, one more is started for the others and kept this long."""


class Sandbox:
    """Runs module-level functions in processes that can reach nothing but their input.

    Each call is a fork of a warm child that has imported everything: what a hostile file does to its process
    ends with the call. A child whose call hung or outgrew its memory is replaced while nobody waits for it;
    the call gets a SandboxError, all other calls notice nothing. `processes` calls run at once; while one
    owner has them all, one more child stands by for the others.
    """

    def __init__(self, processes: int, *, memory_mb: int, preload: Sequence[str] = ()) -> None:
        self._processes = processes
        self._memory_mb = memory_mb
        self._preload = tuple(preload)
        self._slots = FairSlots(processes)
        self._idle: list[SandboxProcess] = []
        self._reserving: asyncio.Task[None] | None = None
        self._dismissing: asyncio.Task[None] | None = None
        self._reserve_until = 0.0
        self._children: set[SandboxProcess] = set()
        self._background: set[asyncio.Task[None]] = set()
        self._open = False

    @property
    def pids(self) -> tuple[int, ...]:
        """The ids of the running processes."""
        return tuple(child.pid for child in self._children if not child.dead)

    @property
    def layers(self) -> Layers:
        """The layers that confine a call on this machine; known after start()."""
        return next((child.layers for child in self._children), Layers())

    async def start(self) -> None:
        """Start all children and wait until each has imported what it preloads."""
        self._open = True
        hiring = [asyncio.create_task(self._start_child()) for _ in range(self._processes)]
        try:
            self._idle += await asyncio.gather(*hiring)
        except BaseException:
            await self.close()
            await asyncio.gather(*hiring, return_exceptions=True)  # closed meanwhile, they end by themselves
            raise

    async def run(
        self,
        function: Callable[..., T],
        *args: object,
        seconds: float,
        output_mb: int = 4,
        file_mb: int = 512,
        owner: Owner = None,
        prepare: Callable[[Any], object] | None = None,
    ) -> T:
        """Run `function(*args)` in a fresh process. Time spent in the queue does not count.

        Owners (tenants) share the children fairly, see `FairSlots`.

        Arguments and results travel as JSON, by the types the function declares; `InputFile` and `OutputFile`
        are handed over open. What the function raises is raised here, if it is an error of Python or of a
        document; a SandboxError says that it did not come to an end. Cancelling kills the call.
        `prepare` runs with the last argument outside of the call, in the process all calls are forked from.
        """
        if not self._open:
            raise SandboxClosed
        name_of(function)  # fail here instead of in a child
        await self._slots.take(owner)
        child: SandboxProcess | None = None
        try:
            self._stand_by()
            child = await self._lend()
            folder = child.folders.for_a_call()
            copies = child.folders.user is not None
            call = Outgoing(function, args, folder, output_mb, file_mb, prepare, copies)
            result: T = await child.run(call, seconds)
            return result
        except SandboxError as error:
            if not self._open:
                raise SandboxClosed from error
            raise
        finally:
            self._take_back(child, owner)

    async def close(self) -> None:
        """Kill every child and wait until they are gone; calls that still run raise SandboxClosed."""
        self._open = False
        self._slots.refuse(SandboxClosed())
        for child in self._children:
            child.kill()
        for task in self._background:
            task.cancel()
        await asyncio.gather(*self._background, return_exceptions=True)
        await asyncio.gather(*(child.close() for child in self._children))
        self._children.clear()

    async def _start_child(self) -> SandboxProcess:
        if not self._open:
            raise SandboxClosed
        child = SandboxProcess(self._memory_mb)
        self._children.add(child)
        try:
            await child.greet(self._preload)
        except BaseException:
            self._let_go(child)
            raise
        return child

    async def _lend(self) -> SandboxProcess:
        """A child for the holder of a slot; waits for one that is being started."""
        if not self._idle and self._reserving is not None:
            await asyncio.wait([self._reserving])
        while self._idle:
            child = self._idle.pop()
            if not child.dead:
                return child
            self._let_go(child)
        return await self._start_child()

    def _take_back(self, child: SandboxProcess | None, owner: Owner) -> None:
        if not self._open:
            return
        if child is not None and not child.dead:
            self._idle.append(child)
            self._slots.give_back(owner)
        else:
            self._let_go(child)
            self._do(self._replace(owner))

    async def _replace(self, owner: Owner) -> None:
        """Start another child, unless there are enough; if it does not start the next call tries again."""
        try:
            if len(self._idle) + self._slots.taken <= self._processes:
                self._idle.append(await self._start_child())
        except (OSError, SandboxError) as error:
            log.warning("sandbox_child_not_started", error=str(error))
        finally:
            self._slots.give_back(owner)

    def _stand_by(self) -> None:
        """Make sure that there is a spare child while one owner occupies all others."""
        if self._slots.one_has_all:
            self._reserve_until = monotonic() + RESERVE_FOR_SECONDS
            if self._reserving is None:
                self._reserving = self._do(self._reserve())

    async def _reserve(self) -> None:
        try:
            await asyncio.sleep(RESERVE_AFTER_SECONDS)
            if not self._slots.one_has_all:
                return
            if not self._idle:
                self._idle.append(await self._start_child())
        except (OSError, SandboxError) as error:
            log.warning("sandbox_child_not_started", error=str(error))
        finally:
            self._reserving = None
        if self._dismissing is None or self._dismissing.done():
            self._dismissing = self._do(self._dismiss_reserve())

    async def _dismiss_reserve(self) -> None:
        while (left := self._reserve_until - monotonic()) > 0:  # noqa: ASYNC110  # moved by each call
            await asyncio.sleep(left)
        while self._idle and len(self._idle) + self._slots.taken > self._processes:
            self._let_go(self._idle.pop())

    def _let_go(self, child: SandboxProcess | None) -> None:
        if child is not None:
            child.kill()
            self._do(self._bury(child))

    async def _bury(self, child: SandboxProcess) -> None:
        await child.close()
        self._children.discard(child)

    def _do(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)
        return task
