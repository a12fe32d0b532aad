"""What a worker does when its event loop is blocked: log where, return the other leases, end the process."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from penstock.db.reconnecting import ReconnectingConnection
from penstock.model import Lease, LeaseId, WorkerId
from penstock.observe import get_logger
from penstock.queue.lease_calls import LeaseCalls
from penstock.worker.loop_watch import LoopWatch
from penstock.worker.slots import Slots

log = get_logger(__name__)

EXIT_CODE = 75
"""EX_TEMPFAIL: start it again."""
LOG_SECONDS = 5.0
RELEASE_SECONDS = 3.0


@dataclass(slots=True)
class Stall:
    """`lease` is the one whose handler blocks the loop, if known; `innocent` are returned uncharged."""

    worker_id: WorkerId
    watch: LoopWatch
    lease: Lease | None = None
    innocent: set[LeaseId] = field(default_factory=set)

    def blame(
        self, slots: Iterable[Slots], current: asyncio.Task[Any] | None, known: set[LeaseId] | None
    ) -> None:
        """Find the lease that blocks the loop, and those to return.

        The loop's current task is the culprit if it is a slot; a task started by a handler tells nothing.
        `known` are all leases of a process that ends; one that goes on has handlers in threads, and can only
        return leases that never started.
        """
        self.lease = next((lease for each in slots if (lease := each.run_by(current)) is not None), None)
        if self.lease is not None and known is not None:
            self.innocent = known - {self.lease.lease_id}
        else:
            self.innocent = set().union(*(each.not_started() for each in slots))

    async def report(self, line: ReconnectingConnection) -> None:
        """Log one event with all stacks, then return the leases that did not cause it."""
        # The blocked thread may hold the log's lock, waiting for a full pipe: do not wait forever.
        writing = threading.Thread(target=self._log, name="penstock-stall-log", daemon=True)
        writing.start()
        await asyncio.to_thread(writing.join, LOG_SECONDS)
        if not self.innocent:
            return
        try:
            async with asyncio.timeout(RELEASE_SECONDS):
                await LeaseCalls(line, line).release_unknown(self.worker_id, sorted(self.innocent))
        except Exception as error:  # noqa: BLE001  # then they are rescued like the others, as lost
            log.warning("release_failed", worker_id=self.worker_id, count=len(self.innocent), error=error)

    def _log(self) -> None:
        lease = self.lease
        log.error(
            "loop_stalled",
            worker_id=self.worker_id,
            seconds=round(self.watch.silent, 1),
            task_id=lease.task_id if lease else None,
            task_type=lease.task_type if lease else None,
            lease_id=lease.lease_id if lease else None,
            released=len(self.innocent),
            stacks=self.watch.stacks(),
        )


def end_stalled_process() -> None:
    """Exit immediately: any cleanup would need the blocked loop."""
    os._exit(EXIT_CODE)
