"""The claim loop of one queue: keeps its slots busy, and decides how to wait when there are no tasks."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic

from penstock.db.connect import CONNECTION_LOST
from penstock.errors import WorkerLost
from penstock.model import Lease
from penstock.observe import Metrics, get_logger
from penstock.queue.broker import Broker
from penstock.worker.load import Load
from penstock.worker.next_due import NextDue
from penstock.worker.registration import Registration
from penstock.worker.service_task import ServiceTask
from penstock.worker.slots import Slots
from penstock.worker.watermarks import Watermarks

log = get_logger(__name__)

LARGEST_CLAIM = 1_000
LARGEST_PREFETCH = 2_000
PROBE_SECONDS = 0.25
ADMIT_SECONDS = 0.05
FIRST_POLL = 0.05
OTHERS_SECONDS = 0.5
LINGER = (0.002, 0.004, 0.008, 0.016, 0.032, 0.064)
"""How long a busy worker that finds nothing sleeps before it tries again and then registers as idle."""


@dataclass(frozen=True, slots=True)
class ClaimOptions:
    """How a claimer waits and how much it prefetches."""

    notify: bool = True
    poll_interval: float = 30.0
    poll_jitter: float = 0.1
    prefetch_seconds: float = 0.2
    reserve: int = 0
    """How many tasks may run beyond the slots, each of a tenant without a running task here."""


class Claimer:
    """Claims as many tasks as there are slots, plus a fraction of a second's worth ahead."""

    def __init__(
        self,
        slots: Slots,
        broker: Broker,
        metrics: Metrics,
        options: ClaimOptions,
        lost: Callable[[], None],
    ) -> None:
        self._slots = slots
        self._queue = slots.queue
        self._broker = broker
        self._metrics = metrics
        self._options = options
        self._lost = lost
        self._watermarks = Watermarks()
        self._load = Load()
        self._registration: Registration | None = None
        self._idle = False
        self._poll = FIRST_POLL
        self._lingered = 0
        self._probe_at = 0.0
        self._admit_at = 0.0
        self._wake = asyncio.Event()
        self._due = NextDue()
        self._task = ServiceTask()
        self.limited = False
        """The queue has its own limit, so that the end of any task may make another claimable."""
        self._asked: list[asyncio.Future[bool]] = []

    def register(self, registration: Registration) -> None:
        self._registration = registration
        self._idle = False

    def wake(self, *, due: bool = True) -> None:
        """Try to claim now: there is a task or, with `due`, something was delayed, freed or resumed."""
        self._admit_at = 0.0
        if due:
            self._due.forget()
        self._wake.set()

    async def look(self) -> bool:
        """Whether a claim that starts now finds nothing."""
        answer: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._asked.append(answer)
        self.wake()
        return await answer

    async def start(self) -> None:
        self._task.start(self._run(), f"claimer-{self._queue}")

    async def stop(self) -> None:
        await self._task.stop()

    async def _run(self) -> None:
        while True:
            try:
                await self._turn()
            except CONNECTION_LOST as error:
                log.throttled("database_lost", duty="claimer", queue=self._queue, error=error)
                self._idle = False
                await asyncio.sleep(0.05)
            except WorkerLost:
                self._registration = None
                self._lost()
                await asyncio.sleep(0.05)
            except Exception as error:  # noqa: BLE001  # one bad response must not end the loop; it is logged
                log.throttled("claim_failed", level="error", queue=self._queue, error=error)
                await asyncio.sleep(1.0)

    async def _turn(self) -> None:
        registration = self._registration
        if registration is None or not registration.valid:
            await asyncio.sleep(0.02)
            return
        wanted = min(self._wanted(), LARGEST_CLAIM)
        if wanted <= 0:
            self._slots.room.clear()
            if self._wanted() <= 0:
                if self._options.reserve:
                    await self._serve_others(registration)
                else:
                    await self._slots.room.wait()
            return
        asked, self._asked = self._asked, []
        try:
            leases = await self._claim(registration, wanted)
        except BaseException:
            self._asked += asked
            raise
        self._load.claimed(len(leases))
        if leases:
            self._lingered = 0
            if not self._options.notify:
                self._poll = FIRST_POLL
            self._slots.offer(leases)
            self._answer(asked, False)
            for task_type, count in Counter(lease.task_type for lease in leases).items():
                self._metrics.claimed(task_type, count)
            if log.enabled_for_debug:
                for lease in leases:
                    log.debug(
                        "task_claimed",
                        task_id=lease.task_id,
                        task_type=lease.task_type,
                        lease_id=lease.lease_id,
                        worker_id=registration.worker_id,
                        attempt=lease.attempt,
                    )
            if len(leases) < wanted and self._idle and not self._load.fast:
                await self._wait()
            elif self._load.fast:
                if self._idle:
                    await self._broker.go_idle(registration.worker_id, self._queue, False)
                    self._idle = False
                if len(leases) < wanted:
                    # We keep up with the producers: let a few more tasks accumulate before the next claim.
                    await self._sleep(LINGER[0])
        else:
            self._answer(asked, True)
            await self._found_nothing(registration)

    async def _serve_others(self, registration: Registration) -> None:
        """Every slot is taken, but a tenant without a running task here need not wait for one."""
        slots = self._slots
        if slots.in_reserve < self._options.reserve:
            # One call twice a second, only while all slots are taken.
            leases = await self._broker.claim(
                registration.worker_id,
                self._queue,
                1,
                *self._watermarks.safe(),
                True,
                True,
                sorted(slots.tenants),
            )
            for lease in leases:
                self._metrics.claimed(lease.task_type, 1)
                slots.run_in_reserve(lease)
            if leases:
                return
        with suppress(TimeoutError):
            async with asyncio.timeout(OTHERS_SECONDS):
                await slots.room.wait()

    def _answer(self, asked: list[asyncio.Future[bool]], empty: bool) -> None:
        for answer in asked:
            if not answer.done():
                answer.set_result(empty)

    async def _claim(self, registration: Registration, wanted: int) -> list[Lease]:
        if self._load.fast:
            await self._probe()
        now = monotonic()
        admit = now - self._admit_at > ADMIT_SECONDS
        if admit:
            self._admit_at = now
        lanes, starts = self._watermarks.hot()
        find = not lanes or not self._load.fast
        if find:
            lanes, starts = self._watermarks.safe()
        self._metrics.polled(1)
        leases = await self._broker.claim(
            registration.worker_id, self._queue, wanted, lanes, starts, admit, find
        )
        if not leases and not (find and admit):
            self._admit_at = monotonic()
            lanes, starts = self._watermarks.safe()
            leases = await self._broker.claim(
                registration.worker_id, self._queue, wanted, lanes, starts, True, True
            )
        self._watermarks.claimed(leases)
        return leases

    async def _probe(self) -> None:
        """Advance the watermarks four times a second, but not between a notification and its claim."""
        now = monotonic()
        if now - self._probe_at > PROBE_SECONDS:
            self._probe_at = now
            probe = await self._broker.probe(self._queue, *self._watermarks.safe())
            self._watermarks.probed(probe)
            self.limited = probe.limited

    async def _found_nothing(self, registration: Registration) -> None:
        if self._load.fast or 0 < self._lingered < len(LINGER):
            # Producers are active: a short sleep here is cheaper for them than a NOTIFY in each commit.
            pause = LINGER[self._lingered % len(LINGER)]
            self._lingered += 1
            await self._sleep(pause)
            return
        self._lingered = 0
        if self._options.notify and not self._idle:
            # Register first, then try once more: a producer that did not see us may have committed.
            await self._broker.go_idle(registration.worker_id, self._queue, True)
            self._idle = True
            self._poll = FIRST_POLL
            self._admit_at = 0.0
            self._due.forget()  # until now we would not have been notified of a change
            return
        await self._wait()

    async def _wait(self) -> None:
        """Wait until woken, the next due time, or the next poll: 50 ms doubling to the poll interval."""
        await self._probe()
        if not (self._due.known and self._options.notify):
            asked = self._due.ask()
            self._due.answer(asked, await self._broker.next_due(self._queue))
        due = self._due.seconds
        timeout = self._poll * (1 + self._options.poll_jitter * random.random())
        self._poll = min(self._poll * 2, self._options.poll_interval)
        if due is not None and due < timeout:
            timeout = max(due, 0.001)
            if due <= 0.05:
                self._admit_at = 0.0
        if not await self._sleep(timeout):
            self._admit_at = 0.0
            self._due.forget()

    async def _sleep(self, seconds: float) -> bool:
        """Wait; True if woken before the time was up."""
        # Not wait_for: before Python 3.12 it swallows a cancellation that meets the wake-up; stop() hung.
        try:
            async with asyncio.timeout(seconds):
                await self._wake.wait()
        except TimeoutError:
            return False
        else:
            return True
        finally:
            self._wake.clear()

    def _wanted(self) -> int:
        """How many tasks to claim now: free slots, plus what they will run within the prefetch time."""
        rate = self._load.run_rate(self._slots.started)
        ahead = min(int(rate * self._options.prefetch_seconds), LARGEST_PREFETCH)
        target = self._slots.concurrency + ahead
        self._slots.low_water = max(ahead // 2, 1)
        outstanding = self._slots.outstanding
        return 0 if outstanding > target - self._slots.low_water // 2 else target - outstanding
