"""A worker for tests: real leases and closes, but one run at a time and no threads of its own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from math import inf

from penstock.db import Pool
from penstock.db.connect import create_pool
from penstock.db.reconnecting import ReconnectingConnection
from penstock.model import Lease
from penstock.observe import Metrics
from penstock.queue.duty_calls import DutyCalls
from penstock.queue.lease_calls import LeaseCalls
from penstock.queue.registry import Registry
from penstock.settings import Settings
from penstock.worker.closer import Closer
from penstock.worker.duties import fire_schedules
from penstock.worker.registration import Registration
from penstock.worker.runner import Runner


class SerialWorker:
    """`next` claims, `run` runs and closes; nothing else happens in between."""

    def __init__(self, registry: Registry, settings: Settings, url: str, queues: Sequence[str]) -> None:
        self._settings = settings
        self._url = url
        self._queues = queues
        self._lines = [ReconnectingConnection(url, application_name="penstock testing") for _ in range(3)]
        claims, closes, duties = self._lines
        self._calls = DutyCalls(duties)
        self._lease_calls = LeaseCalls(claims, closes)
        metrics = Metrics()
        self._closer = Closer(self._lease_calls, metrics, lambda _leases, _freed: None)
        self._runner = Runner(registry, self._closer, metrics, self._open_pool)
        self._pool: Pool | None = None
        self._registration: Registration | None = None

    async def start(self) -> None:
        lease_seconds = self._settings.lease_seconds
        worker_id = await self._calls.register("penstock.testing", list(self._queues), lease_seconds)
        self._registration = Registration(worker_id, lease_seconds, valid_until=inf)
        self._closer.register(worker_id)
        await self._closer.start()

    async def next(self) -> Lease | None:
        """Claim the next due task of any queue."""
        assert self._registration is not None
        worker_id = self._registration.worker_id
        await self._calls.beat(worker_id)  # before the rescue, which must not take us for silent
        await self._calls.rescue()
        await fire_schedules(self._calls)
        for queue in self._queues:
            for lease in await self._lease_calls.claim(worker_id, queue, 1, [], [], True, True):
                return lease
        return None

    async def run(self, lease: Lease) -> None:
        """Run the handler and close the lease."""
        running = asyncio.create_task(self._run(lease), name=f"penstock-test-{lease.task_type}")
        try:
            await asyncio.shield(running)
        except asyncio.CancelledError:
            self._runner.stopping[lease.lease_id] = "shutdown"
            running.cancel()
            await asyncio.wait([running])
            raise
        await self._closer.flush(timeout=60.0)

    async def put_back(self, lease: Lease) -> None:
        assert self._registration is not None
        await self._lease_calls.release(self._registration.worker_id, [lease])

    async def stop(self) -> None:
        try:
            await self._closer.flush(timeout=5.0)
            await self._closer.stop()
            if self._registration is not None:
                await self._calls.stop(self._registration.worker_id)
        finally:
            for line in self._lines:
                await line.close()
            if self._pool is not None:
                await self._pool.close()

    async def _run(self, lease: Lease) -> None:
        task = asyncio.current_task()
        assert task is not None
        assert self._registration is not None
        await self._runner.run(task, lease, self._registration)

    async def _open_pool(self) -> Pool:
        if self._pool is None:
            self._pool = await create_pool(
                self._url, application_name="penstock testing", min_size=0, max_size=self._settings.pool_size
            )
        return self._pool


@asynccontextmanager
async def serial_worker(
    registry: Registry, settings: Settings, url: str, queues: Sequence[str]
) -> AsyncIterator[SerialWorker]:
    worker = SerialWorker(registry, settings, url, queues)
    try:
        await worker.start()
        yield worker
    finally:
        await worker.stop()
