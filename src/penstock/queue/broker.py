"""What a worker asks of a queue: the seam behind which another broker could stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from penstock.model import Failure, Lease, LeaseId, WorkerId


@dataclass(frozen=True, slots=True)
class Probe:
    """The lanes with a visible task, and what decides how far a mark may safely move."""

    lanes: Sequence[int]
    tickets: Sequence[int]
    newest: int
    snapshot_min: int
    snapshot_max: int
    limited: bool = False
    """The queue has a limit of its own: whenever a task ends there may be room for another."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the queue decided about a failure: retry, dead, cancelled, or gone when the lease was lost."""

    lease_id: LeaseId
    outcome: str
    retry_at: datetime | None


class Broker(Protocol):
    """Claim and close. Every close is fenced by worker, lease and task and says what it really closed."""

    async def claim(
        self,
        worker_id: WorkerId,
        queue: str,
        limit: int,
        lanes: Sequence[int],
        starts: Sequence[int],
        admit: bool,
        find: bool,
        avoid: Sequence[int] | None = None,
    ) -> list[Lease]:
        """`avoid`: leave out the tenants with these numbers (the lower 40 bits of a lane)."""

    async def probe(self, queue: str, lanes: Sequence[int], marks: Sequence[int]) -> Probe: ...

    async def next_due(self, queue: str) -> float | None: ...

    async def go_idle(self, worker_id: WorkerId, queue: str, idle: bool) -> None: ...

    async def complete(self, worker_id: WorkerId, leases: Sequence[Lease]) -> list[LeaseId]: ...

    async def fail(self, worker_id: WorkerId, failures: Sequence[tuple[Lease, Failure]]) -> list[Verdict]: ...

    async def snooze(self, worker_id: WorkerId, snoozes: Sequence[tuple[Lease, float]]) -> list[LeaseId]: ...

    async def cancelled(self, worker_id: WorkerId, cancels: Sequence[tuple[Lease, str]]) -> list[LeaseId]: ...

    async def release(self, worker_id: WorkerId, leases: Sequence[Lease]) -> list[LeaseId]: ...

    async def release_unknown(self, worker_id: WorkerId, leases: Sequence[LeaseId]) -> list[LeaseId]:
        """Hand back leases held in the worker's name of which it knows only that they are there."""
