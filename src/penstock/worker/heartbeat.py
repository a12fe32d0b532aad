"""The heartbeat, from a thread with its own loop and connection; it stops if the worker's loop is blocked."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Awaitable, Callable, Mapping
from time import monotonic

from penstock.db.connect import CONNECTION_LOST
from penstock.db.reconnecting import ReconnectingConnection
from penstock.errors import WorkerLost
from penstock.model import LeaseId
from penstock.observe import get_logger
from penstock.queue.duty_calls import DutyCalls
from penstock.worker.loop_watch import LoopWatch
from penstock.worker.registration import Registration

log = get_logger(__name__)

OnCancels = Callable[[Mapping[LeaseId, str]], None]
OnStalled = Callable[[LoopWatch, ReconnectingConnection], Awaitable[None]]


class Heartbeat:
    """One beat renews all leases of a registration; callbacks arrive on the worker's own loop.

    A loop that is blocked for a while loses no lease. After `stall_seconds` without a response (0: no check),
    `on_stalled` is called in this thread, and there is no further beat.
    """

    def __init__(
        self,
        url: str,
        registration: Registration,
        beat_seconds: float,
        on_cancels: OnCancels,
        on_lost: Callable[[], None],
        on_stalled: OnStalled,
        on_stop_asked: Callable[[str], None],
        stall_seconds: float = 0.0,
        on_look: Callable[[], None] = lambda: None,
        statement_cache: int = 100,
    ) -> None:
        self._url = url
        self._registration = registration
        self._beat_seconds = beat_seconds
        self._on_cancels = on_cancels
        self._on_lost = on_lost
        self._on_stalled = on_stalled
        self._on_stop_asked = on_stop_asked
        self._stall_seconds = stall_seconds
        self._on_look = on_look
        """Called at each check of the loop."""
        self._statement_cache = statement_cache
        self._home = asyncio.get_running_loop()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._hurry: asyncio.Event | None = None
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._main, name="penstock-heartbeat", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def beat_now(self) -> None:
        """Beat now, to learn of a cancellation without waiting for the next beat."""
        if self._loop is not None and self._hurry is not None and not self._stopped.is_set():
            self._loop.call_soon_threadsafe(self._hurry.set)

    async def stop(self) -> None:
        self._stopped.set()
        if self._loop is not None and self._hurry is not None:
            self._loop.call_soon_threadsafe(self._hurry.set)
        await asyncio.to_thread(self._thread.join, 10.0)

    def _main(self) -> None:
        asyncio.run(self._run())

    async def _run(self) -> None:
        self._hurry = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        line = ReconnectingConnection(
            self._url,
            application_name="penstock heartbeat",
            statement_timeout=max(self._registration.lease_seconds / 3, 1.0),
            longest_delay=min(1.0, self._beat_seconds),
            statement_cache=self._statement_cache,
        )
        beating = asyncio.create_task(self._beat(DutyCalls(line), self._hurry))
        try:
            watch = await self._watch(beating)
            if watch is not None:
                beating.cancel()
                await asyncio.wait([beating])
                self._registration.valid_until = 0.0
                await self._on_stalled(watch, line)
                with contextlib.suppress(RuntimeError):
                    self._home.call_soon_threadsafe(self._on_lost)
        finally:
            self._loop = None
            await line.close()

    async def _watch(self, beating: asyncio.Task[None]) -> LoopWatch | None:
        """Wait until the beat ends or the loop stalls; returns the watch if it stalled."""
        if not self._stall_seconds:
            await asyncio.wait([beating])
            return None
        watch = LoopWatch(self._home, self._stall_seconds)
        while True:
            self._on_look()
            if watch.stalled():
                if not watch.in_debugger():
                    return watch
                log.throttled("loop_stopped_in_debugger", every=60.0)
                watch.restart()
            done, _ = await asyncio.wait([beating], timeout=watch.tick)
            if done:
                return None

    async def _beat(self, calls: DutyCalls, hurry: asyncio.Event) -> None:
        while not self._stopped.is_set():
            pause = self._beat_seconds
            asked_at = monotonic()
            try:
                beat = await calls.beat(self._registration.worker_id)
                self._registration.renew(asked_at)
                if beat.cancels:
                    self._home.call_soon_threadsafe(self._on_cancels, beat.cancels)
                if beat.stop_asked_by is not None:
                    self._home.call_soon_threadsafe(self._on_stop_asked, beat.stop_asked_by)
            except WorkerLost:
                self._registration.valid_until = 0.0
                self._home.call_soon_threadsafe(self._on_lost)
                return
            except CONNECTION_LOST as error:
                log.throttled("database_lost", duty="heartbeat", error=error)
                pause = min(0.2, self._beat_seconds)
            except Exception as error:  # noqa: BLE001  # without a beat every lease is lost; it is logged
                log.throttled("beat_failed", level="error", error=error)
                pause = min(0.2, self._beat_seconds)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(hurry.wait(), pause)
            hurry.clear()
