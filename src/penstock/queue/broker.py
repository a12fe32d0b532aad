"""The protocol between a worker and the queue."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from penstock.model import Failure, Lease, LeaseId, WorkerId


@dataclass(frozen=True, slots=True)
class Probe:
    """The lanes with a visible task, and the snapshot that decides how far a watermark may advance."""

    lanes: Sequence[int]
    tickets: Sequence[int]
    newest: int
    snapshot_min: int
    snapshot_max: int
    limited: bool = False
    """The queue has its own limit: whenever a task ends, another may become claimable."""


@dataclass(frozen=True, slots=True)
class FailureOutcome:
    """What the queue decided after a failure: retry, dead, cancelled, or gone if the lease was lost."""

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
        """`avoid`: skip the tenants with these numbers (the lower 40 bits of a lane)."""

    async def probe(self, queue: str, lanes: Sequence[int], marks: Sequence[int]) -> Probe: ...

    async def next_due(self, queue: str) -> float | None: ...

    async def go_idle(self, worker_id: WorkerId, queue: str, idle: bool) -> None: ...

    async def complete(self, worker_id: WorkerId, leases: Sequence[Lease]) -> list[LeaseId]: ...

    async def fail(
        self, worker_id: WorkerId, failures: Sequence[tuple[Lease, Failure]]
    ) -> list[FailureOutcome]: ...

    async def snooze(self, worker_id: WorkerId, snoozes: Sequence[tuple[Lease, float]]) -> list[LeaseId]: ...

    async def cancelled(self, worker_id: WorkerId, cancels: Sequence[tuple[Lease, str]]) -> list[LeaseId]: ...

    async def release(self, worker_id: WorkerId, leases: Sequence[Lease]) -> list[LeaseId]: ...

    async def release_unknown(self, worker_id: WorkerId, leases: Sequence[LeaseId]) -> list[LeaseId]:
        """Release leases held in the worker's name of which it knows only the id."""
