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
from penstock.queue.lease_calls import LeaseCalls
from penstock.worker.load import Load
from penstock.worker.next_due import NextDue
from penstock.worker.registration import Registration
from penstock.worker.service_task import ServiceTask
from penstock.worker.slots import Slots
from penstock.worker.waiting import Waiting, load_of
from penstock.worker.watermarks import Watermarks

log = get_logger(__name__)

LARGEST_CLAIM = 1_000
LARGEST_PREFETCH = 2_000
FIRST_CLAIM = 16
"""How many tasks are claimed before it is known how large their payloads are."""
CLAIM_BYTES = 8 << 20
"""About how much payload a claim may return. Beyond it each claim allocates new memory, which is slow."""
PREFETCH_BYTES = 64 << 20
"""About how much payload may be claimed ahead of the slots."""
PROBE_SECONDS = 0.25
ADMIT_SECONDS = 0.05
FIRST_POLL = 0.05
OTHERS_SECONDS = 0.5
SWEEP_SECONDS = 1.0
"""How often one of the workers that sleep looks by itself, in case the one that was told froze or died."""
DUE_SECONDS = 0.25
"""How much later than the worker before it a sleeping worker looks at what is due, for the first few."""
BUSY_LISTS = 8
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
        lease_calls: LeaseCalls,
        metrics: Metrics,
        options: ClaimOptions,
        lost: Callable[[], None],
        mailbox: Callable[[], int] = lambda: 0,
    ) -> None:
        self._slots = slots
        self._queue = slots.queue
        self._lease_calls = lease_calls
        self._metrics = metrics
        self._options = options
        self._lost = lost
        self._watermarks = Watermarks()
        self._load = Load()
        self._registration: Registration | None = None
        self._waiting = Waiting(lease_calls, slots.queue, mailbox)
        self._swept = False
        """Nobody told us to look: what we find now, another worker was told of."""
        self._told = False
        self._full = False
        self._load_before = 0
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
        self._waiting.forget()

    def wake(self, *, due: bool = True) -> None:
        """Try to claim now: there is a task or, with `due`, something was delayed, freed or resumed."""
        self._admit_at = 0.0
        if due:
            self._due.forget()
        self._wake.set()

    def told(self, *, due: bool) -> None:
        """A producer chose us, and nobody else: if every slot is taken, the next worker has to be told."""
        self.wake(due=due)
        self._told = True
        if self._full:
            self._slots.room.set()

    def reconnected(self) -> None:
        """Our mailbox is a new one, and what was sent to the old one is lost."""
        self._waiting.forget()
        self.wake()

    async def look(self) -> bool:
        """Whether a claim that starts now finds nothing."""
        answer: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._asked.append(answer)
        self.wake()
        return await answer

    async def start(self) -> None:
        self._wake.clear()  # it looks now, whatever it was told before
        self._task.start(self._run(), f"claimer-{self._queue}")

    async def stop(self) -> None:
        await self._task.stop()

    async def _run(self) -> None:
        while True:
            try:
                await self._turn()
            except CONNECTION_LOST as error:
                log.throttled("database_lost", duty="claimer", queue=self._queue, error=error)
                self._waiting.forget()
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
        wanted = min(self._wanted(), self._largest_claim())
        if wanted <= 0:
            self._slots.room.clear()
            if self._wanted() <= 0:
                await self._wait_for_room(registration)
            return
        self._load_before = load_of(self._slots.outstanding, self._slots.concurrency)
        self._told = False
        asked, self._asked = self._asked, []
        try:
            leases = await self._claim(registration, wanted)
        except BaseException:
            self._asked += asked
            raise
        self._load.claimed([len(lease.payload) for lease in leases])
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
            await self._after_claim(registration, is_full=len(leases) >= wanted)
        else:
            self._answer(asked, True)
            await self._found_nothing(registration)

    async def _after_claim(self, registration: Registration, *, is_full: bool) -> None:
        swept, self._swept = self._swept, False
        if swept and self._waiting.asleep and self._waiting.workers > 1:
            await self._lease_calls.pass_on(registration.worker_id, self._queue, overslept=True)
        if is_full:
            self._waiting.forget()  # the claim took us off the list, or put us at its end
        elif self._load.fast:
            if self._options.notify:
                await self._waiting.poll(registration.worker_id)
            # We keep up with the producers: let a few more tasks accumulate before the next claim.
            await self._sleep(LINGER[0])
        elif self._waiting.asleep:
            await self._wait(registration)

    async def _wait_for_room(self, registration: Registration) -> None:
        if self._told:
            self._told = False
            await self._lease_calls.pass_on(registration.worker_id, self._queue)
            return
        self._full = True
        try:
            if self._options.reserve:
                await self._serve_others(registration)
            else:
                await self._slots.room.wait()
        finally:
            self._full = False

    async def _serve_others(self, registration: Registration) -> None:
        """Every slot is taken, but a tenant without a running task here need not wait for one."""
        slots = self._slots
        if slots.in_reserve < self._options.reserve:
            # One call twice a second, only while all slots are taken.
            leases = await self._lease_calls.claim(
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
        leases = await self._lease_calls.claim(
            registration.worker_id, self._queue, wanted, lanes, starts, admit, find, pass_on=True
        )
        if not leases and not (find and admit):
            self._admit_at = monotonic()
            lanes, starts = self._watermarks.safe()
            leases = await self._lease_calls.claim(
                registration.worker_id, self._queue, wanted, lanes, starts, True, True, pass_on=True
            )
        self._watermarks.claimed(leases)
        return leases

    async def _probe(self) -> None:
        """Advance the watermarks four times a second, but not between a notification and its claim."""
        now = monotonic()
        if now - self._probe_at > PROBE_SECONDS:
            self._probe_at = now
            probe = await self._lease_calls.probe(self._queue, *self._watermarks.safe())
            self._watermarks.probed(probe)
            self.limited = probe.limited

    async def _found_nothing(self, registration: Registration) -> None:
        self._swept = False
        if self._load.fast or 0 < self._lingered < len(LINGER):
            # Producers are active: a short sleep here is cheaper for them than a NOTIFY in each commit.
            pause = LINGER[0 if self._load.fast else self._lingered]
            self._lingered = 1 if self._load.fast else self._lingered + 1
            await self._sleep(pause)
            return
        self._lingered = 0
        if self._options.notify and not self._waiting.asleep:
            self._poll = FIRST_POLL
            if await self._register_asleep(registration):
                return
        await self._wait(registration)

    async def _register_asleep(self, registration: Registration) -> bool:
        """Register; True if we have to look once more: a producer that did not see us may have committed."""
        asked = self._due.ask()
        is_new, due = await self._waiting.sleep(registration.worker_id, self._load_before)
        self._due.answer(asked, due)
        if is_new:
            self._admit_at = 0.0
            self._due.forget()  # until now we would not have been notified of a change
        return is_new

    async def _wait(self, registration: Registration) -> None:
        """Wait until woken, the next due time, or the next poll: 50 ms doubling to the poll interval.

        Of several workers that sleep, one looks every second or so: the one that was told may have frozen.
        """
        await self._probe()
        if not self._options.notify:
            asked = self._due.ask()
            self._due.answer(asked, await self._lease_calls.next_due(self._queue))
        elif (not self._due.known or self._waiting.is_outdated(self._load_before)) and (
            await self._register_asleep(registration)
        ):
            return
        timeout = self._poll * (1 + self._options.poll_jitter * random.random())
        workers = self._waiting.workers
        longest = self._options.poll_interval
        self._poll = min(self._poll * 2, longest if workers == 1 else min(longest, SWEEP_SECONDS * workers))
        until = monotonic() + timeout
        while True:
            left, due = until - monotonic(), self._due.seconds
            if due is not None:
                due += DUE_SECONDS * min(self._waiting.ahead, BUSY_LISTS)
            is_due = due is not None and due < left
            if await self._sleep(max(due if due is not None and is_due else left, 0.001)):
                return
            self._admit_at = 0.0
            self._due.forget()
            if not is_due:
                self._swept = timeout >= SWEEP_SECONDS / 2
                return
            if not self._waiting.ahead or await self._register_asleep(registration):
                return
            if self._due.seconds == 0.0:
                return  # nobody before us took it

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

    def _largest_claim(self) -> int:
        return min(LARGEST_CLAIM, max(self._load.fit(CLAIM_BYTES), 1)) if self._load.known else FIRST_CLAIM

    def _wanted(self) -> int:
        """How many tasks to claim now: free slots, plus what they will run within the prefetch time."""
        # By what ended: a long task that has just begun must not be taken for the first of many short
        # ones, or another one would be fetched and wait behind it while other workers are idle.
        rate = self._load.run_rate(self._slots.started - self._slots.busy)
        ahead = min(
            int(rate * self._options.prefetch_seconds), LARGEST_PREFETCH, self._load.fit(PREFETCH_BYTES)
        )
        target = self._slots.concurrency + ahead
        self._slots.low_water = max(ahead // 2, 1)
        outstanding = self._slots.outstanding
        return 0 if outstanding > target - self._slots.low_water // 2 else target - outstanding
