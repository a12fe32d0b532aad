"""How a claimer is registered while it waits: asleep, so that producers wake it, or polling by itself."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from penstock.model import WorkerId
from penstock.queue.lease_calls import LeaseCalls

POLLS_FOR = 1.0
"""How long producers rely on a worker that said it polls: if it is killed then, nobody is woken meanwhile."""
RENEW_SECONDS = 0.4
LOAD_SECONDS = 0.05
"""How long a worker has to be busier, or less busy, than it is registered as before it says so."""
BUSIEST = 9


class Waiting:
    """The row of one claimer in `queues.idle`, as far as it knows."""

    def __init__(self, calls: LeaseCalls, queue: str, mailbox: Callable[[], int]) -> None:
        self._calls = calls
        self._queue = queue
        self._mailbox = mailbox
        self._load = 0
        self._other_load_since: float | None = None
        self._renew_at = 0.0
        self.asleep = False
        """Producers may wake us."""
        self.workers = 1
        """How many workers wait for this queue, with us."""
        self.ahead = 0
        """How many of them are woken before us."""

    def forget(self) -> None:
        """The row may be gone, or say something else."""
        self.asleep = False
        self._renew_at = 0.0

    def is_outdated(self, load: int) -> bool:
        """Whether we have been registered with another load for a while."""
        if load == self._load:
            self._other_load_since = None
            return False
        now = monotonic()
        if self._other_load_since is None:
            self._other_load_since = now
        return now - self._other_load_since > LOAD_SECONDS

    async def sleep(self, worker_id: WorkerId, load: int) -> tuple[bool, float | None]:
        """Register; returns whether producers did not see us before, and the seconds until a row is due."""
        is_new, self.workers, self.ahead, due = await self._calls.wait_for_work(
            worker_id, self._queue, self._mailbox(), load
        )
        self.asleep = True
        self._load = load
        self._other_load_since = None
        self._renew_at = 0.0
        return is_new, due

    async def poll(self, worker_id: WorkerId) -> None:
        """Say that we look again within milliseconds, unless we have just said so."""
        now = monotonic()
        if now < self._renew_at:
            return
        self.asleep = False
        await self._calls.wait_for_work(worker_id, self._queue, self._mailbox(), polls_for=POLLS_FOR)
        self._renew_at = now + RENEW_SECONDS


def load_of(held: int, slots: int) -> int:
    """0 for nothing, up to 9 for (almost) every slot."""
    return 0 if not held else min(BUSIEST, 1 + BUSIEST * held // slots)
