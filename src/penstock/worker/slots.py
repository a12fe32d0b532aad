"""The slots of one queue: a fixed number of concurrent runs, fed from one buffer of prefetched leases."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from time import monotonic
from typing import Any

from penstock.model import Lease, LeaseId
from penstock.observe import get_logger
from penstock.worker.closer import Closer
from penstock.worker.registration import Registration
from penstock.worker.runner import Runner, Why

log = get_logger(__name__)

BREATH = 128
"""Tasks a slot runs before it yields to the event loop, in case none of them ever awaits."""


class Slots:
    """Slots are long-lived asyncio tasks that take leases from the buffer; no task is created per run."""

    def __init__(self, queue: str, concurrency: int, runner: Runner, closer: Closer) -> None:
        self.queue = queue
        self.concurrency = concurrency
        self.room = asyncio.Event()
        """Set whenever the buffer is low: time to claim."""
        self.low_water = 0
        self.started = 0
        """Runs started so far."""
        self._runner = runner
        self._closer = closer
        self._buffer: deque[Lease] = deque()
        self._running: dict[LeaseId, tuple[asyncio.Task[Any], Lease]] = {}
        self._resting: deque[asyncio.Future[None]] = deque()
        self._tasks: list[asyncio.Task[None]] = []
        self._reserve: set[asyncio.Task[None]] = set()
        self._registration: Registration | None = None
        self._ended = False

    @property
    def outstanding(self) -> int:
        """Leases held: prefetched and running."""
        return len(self._buffer) + len(self._running)

    @property
    def busy(self) -> int:
        return len(self._running)

    def known(self) -> set[LeaseId]:
        """The leases this queue's slots hold now."""
        return {lease.lease_id for lease in self._buffer} | self._running.keys()

    def not_started(self) -> set[LeaseId]:
        """The prefetched leases that wait for a slot."""
        return {lease.lease_id for lease in list(self._buffer)}

    @property
    def tenants(self) -> set[int]:
        """The tenants whose tasks are held, by the tenant bits of their lanes."""
        running = (lease for _, lease in self._running.values())
        return {lease.tenant_number for lease in (*self._buffer, *running)}

    @property
    def in_reserve(self) -> int:
        """Runs beyond the slots."""
        return len(self._reserve)

    def run_in_reserve(self, lease: Lease) -> None:
        """Run this one immediately although every slot is taken."""
        task = asyncio.create_task(self._run_one(lease), name=f"penstock-reserve-{self.queue}")
        self._reserve.add(task)
        self._running[lease.lease_id] = (task, lease)

    async def _run_one(self, lease: Lease) -> None:
        task = asyncio.current_task()
        assert task is not None
        assert self._registration is not None
        self.started += 1
        try:
            await self._runner.run(task, lease, self._registration)
        finally:
            del self._running[lease.lease_id]
            self._reserve.discard(task)
            self.room.set()

    def run_by(self, task: asyncio.Task[Any] | None) -> Lease | None:
        """The lease this task runs, if it is one of these slots."""
        return next((lease for slot, lease in list(self._running.values()) if slot is task), None)

    def report(self) -> None:
        self._runner.report()

    def register(self, registration: Registration) -> None:
        """New leases belong to this registration; runs of an older one are stopped."""
        self._registration = registration
        self._buffer.clear()
        for lease_id in list(self._running):
            self.stop_one(lease_id, "lost")

    def offer(self, leases: Sequence[Lease]) -> None:
        """Put claimed leases into the buffer and wake as many slots as there are."""
        self._buffer.extend(leases)
        self._wake(len(leases))

    def stop_one(self, lease_id: LeaseId, why: Why) -> None:
        """End one run by cancelling its handler; a lease still in the buffer is removed."""
        running = self._running.get(lease_id)
        if running is not None:
            # Only once: each beat repeats a cancellation, and the handler may be cleaning up.
            if lease_id not in self._runner.stopping:
                self._runner.stopping[lease_id] = why
                running[0].cancel()
            return
        for lease in self._buffer:
            if lease.lease_id == lease_id:
                self._buffer.remove(lease)
                if why == "cancel":
                    self._closer.group.cancelled.append((lease, ""))
                    self._closer.wake()
                return

    def hurry(self) -> None:
        """Cancel running handlers; their tasks go back without using up an attempt."""
        for lease_id in list(self._running):
            self.stop_one(lease_id, "shutdown")

    async def start(self) -> None:
        self._tasks = [
            asyncio.create_task(self._slot(), name=f"penstock-slot-{self.queue}-{n}")
            for n in range(self.concurrency)
        ]

    async def stop(self, grace: float) -> None:
        """Return prefetched leases, let handlers finish within the grace, then cancel and return the rest."""
        self._ended = True
        if self._buffer:
            self._closer.group.released.extend(self._buffer)
            self._buffer.clear()
            self._closer.wake()
        self._wake(len(self._resting))
        if not self._tasks:
            return
        _, pending = await asyncio.wait([*self._tasks, *self._reserve], timeout=max(grace, 0.001))
        if pending:
            self.hurry()
            _, pending = await asyncio.wait(pending, timeout=2.0)
        for task in pending:
            # A handler that ignores its cancellation: its lease goes back when the worker deregisters.
            log.warning("handler_would_not_stop", queue=self.queue)
            task.cancel()
        self.report()

    def _wake(self, count: int) -> None:
        for _ in range(min(count, len(self._resting))):
            rest = self._resting.popleft()
            if not rest.done():
                rest.set_result(None)

    async def _rest(self) -> None:
        rest: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._resting.append(rest)
        await rest

    async def _slot(self) -> None:
        task = asyncio.current_task()
        assert task is not None
        buffer, running, run = self._buffer, self._running, self._runner.run
        since_breath = 0
        while True:
            if not buffer:
                if self._ended:
                    return
                self.room.set()
                await self._rest()
                since_breath = 0
                continue
            lease = buffer.popleft()
            registration = self._registration
            assert registration is not None
            if monotonic() > registration.valid_until:
                # Frozen or disconnected for so long that others may have taken these: start none of them, and
                # return those that no one took.
                log.throttled("prefetch_dropped", queue=self.queue, count=len(buffer) + 1)
                self._closer.group.released.extend((lease, *buffer))
                self._closer.wake()
                buffer.clear()
                continue
            lease_id = lease.lease_id
            running[lease_id] = (task, lease)
            self.started += 1
            try:
                await run(task, lease, registration)
            finally:
                del running[lease_id]
            if len(buffer) == self.low_water:
                self.room.set()
            since_breath += 1
            if since_breath >= BREATH:
                since_breath = 0
                await asyncio.sleep(0)
