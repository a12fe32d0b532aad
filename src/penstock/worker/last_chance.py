"""Tasks one more lost worker would quarantine are run one at a time, so that a poison takes nobody with it."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from penstock.model import Lease, LeaseId
from penstock.observe import get_logger
from penstock.queue.registry import Registry
from penstock.worker.closer import Closer

log = get_logger(__name__)

PUT_OFF_SECONDS = (0.5, 1.5)


class LastChance:
    """One for a worker. Which of the tasks a dead worker held had killed it, nobody knows.

    Claimed together again they would die together again, and after the last time all be quarantined. So on its
    last chance a task meets no other that is on its own; the others are put off, uncharged.
    """

    def __init__(self, registry: Registry, closer: Closer, known: Callable[[], set[LeaseId]]) -> None:
        self._most = {name: task_type.options.max_losses for name, task_type in registry.types.items()}
        self._closer = closer
        self._known = known
        self._holder: LeaseId | None = None

    def sift(self, leases: Sequence[Lease]) -> list[Lease]:
        """Those that may run now."""
        taken = self._holder is not None and self._holder in self._known()
        kept: list[Lease] = []
        put_off = 0
        for lease in leases:
            if 0 < lease.losses and lease.losses + 1 >= self._most.get(lease.task_type, 0):
                if taken:
                    self._closer.group.snoozed.append((lease, random.uniform(*PUT_OFF_SECONDS)))
                    put_off += 1
                    continue
                self._holder, taken = lease.lease_id, True
            kept.append(lease)
        if put_off:
            log.throttled("last_chances_put_off", count=put_off)
            self._closer.poke()
        return kept
