"""One open claim of a task by a worker, as the claim returns it."""

from typing import NamedTuple
from uuid import UUID

from penstock.model.ids import LeaseId, TaskId

TENANT_BITS = 40
QUEUE_SHIFT = 46
"""As in internal.lane(): the queue is above class and tenant."""


class Lease(NamedTuple):
    """A named tuple, not a dataclass: 50,000 per second are made directly from the driver's rows."""

    lease_id: LeaseId
    task_id: TaskId
    task_type: str
    payload: str
    failures: int
    losses: int
    held: int
    """Bits: 1 a unique key, 2 a slot of a limit key. Not zero: closing the lease lets another task start."""
    lane: int
    seq: int
    tenant_id: UUID | None
    time_limit: float | None

    @property
    def attempt(self) -> int:
        """Which run this is, from one; lost workers are not counted."""
        return self.failures + 1

    @property
    def tenant_number(self) -> int:
        """The tenant's number: the lowest bits of the lane, below queue and priority."""
        return self.lane & ((1 << TENANT_BITS) - 1)

    @property
    def queue_number(self) -> int:
        """The queue it was claimed from."""
        return self.lane >> QUEUE_SHIFT
