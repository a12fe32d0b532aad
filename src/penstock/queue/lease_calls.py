"""A worker's calls about tasks: claim and close, over two connections.

Every close is fenced by worker, lease and task, and says what it really closed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import cast

from penstock.db.reconnecting import ReconnectingConnection
from penstock.model import Failure, Lease, LeaseId, TaskId, WorkerId

CLAIM = (
    "select * from queues.claim($1, $2, $3, $4, $5, $6, $7, _durable => false, _avoid => $8, _pass_on => $9)"
)
WAIT = "select is_new, waiting, ahead, due from queues.wait_for_work($1, $2, $3, $4, $5)"
PROBE = "select * from queues.probe($1, $2, $3)"
FAIL = "select * from queues.fail($1, $2, $3, $4, $5::jsonb[], $6, $7, $8)"


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


class LeaseCalls:
    """Claims and closes use separate connections, so that Postgres can process both at once."""

    def __init__(self, claims: ReconnectingConnection, closes: ReconnectingConnection) -> None:
        self._claims = claims
        self._closes = closes

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
        pass_on: bool = False,
    ) -> list[Lease]:
        """`avoid`: skip the tenants with these numbers (the lower 40 bits of a lane).

        `pass_on`: if there are more than `limit`, wake the next worker that waits.
        """
        rows = await self._claims.fetch(
            CLAIM, worker_id, queue, limit, lanes, starts, admit, find, avoid, pass_on
        )
        return [Lease._make(row) for row in rows]

    async def probe(self, queue: str, lanes: Sequence[int], marks: Sequence[int]) -> Probe:
        row = (await self._claims.fetch(PROBE, queue, lanes, marks))[0]
        return Probe(
            row["lanes"] or (),
            row["tickets"] or (),
            row["newest"],
            row["snapshot_min"],
            row["snapshot_max"],
            row["limited"],
        )

    async def next_due(self, queue: str) -> float | None:
        return cast("float | None", await self._claims.fetchval("select queues.next_due($1)", queue))

    async def wait_for_work(
        self, worker_id: WorkerId, queue: str, mailbox: int, load: int = 0, polls_for: float | None = None
    ) -> tuple[bool, int, int, float | None]:
        """Register as waiting: is that new, how many wait, how many are woken before us, what is due."""
        row = (await self._claims.fetch(WAIT, worker_id, queue, mailbox, load, polls_for))[0]
        return row["is_new"], row["waiting"] or 1, row["ahead"] or 0, row["due"]

    async def pass_on(self, worker_id: WorkerId, queue: str, overslept: bool = False) -> None:
        """Wake another worker instead of us; or take one off the list that did not wake up."""
        await self._claims.fetch("select queues.pass_on($1, $2, $3)", worker_id, queue, overslept)

    async def complete(self, worker_id: WorkerId, leases: Sequence[Lease]) -> list[LeaseId]:
        return await self._close("select queues.complete($1, $2, $3)", worker_id, *_identities(leases))

    async def fail(
        self, worker_id: WorkerId, failures: Sequence[tuple[Lease, Failure]]
    ) -> list[FailureOutcome]:
        leases, tasks = _identities([lease for lease, _ in failures])
        rows = await self._closes.fetch(
            FAIL,
            worker_id,
            leases,
            [failure.code for _, failure in failures],
            [failure.message for _, failure in failures],
            [failure.details for _, failure in failures],
            [failure.retry_after for _, failure in failures],
            [failure.final for _, failure in failures],
            tasks,
        )
        return [FailureOutcome(row["lease_id"], row["outcome"], row["retry_at"]) for row in rows]

    async def snooze(self, worker_id: WorkerId, snoozes: Sequence[tuple[Lease, float]]) -> list[LeaseId]:
        leases, tasks = _identities([lease for lease, _ in snoozes])
        seconds = [seconds for _, seconds in snoozes]
        return await self._close("select queues.snooze($1, $2, $3, $4)", worker_id, leases, seconds, tasks)

    async def cancelled(self, worker_id: WorkerId, cancels: Sequence[tuple[Lease, str]]) -> list[LeaseId]:
        leases, tasks = _identities([lease for lease, _ in cancels])
        reasons = [reason for _, reason in cancels]
        return await self._close(
            "select queues.close_cancelled($1, $2, $3, $4)", worker_id, leases, reasons, tasks
        )

    async def release(self, worker_id: WorkerId, leases: Sequence[Lease]) -> list[LeaseId]:
        return await self._close("select queues.release($1, $2, $3)", worker_id, *_identities(leases))

    async def release_unknown(self, worker_id: WorkerId, leases: Sequence[LeaseId]) -> list[LeaseId]:
        """Release leases held in the worker's name of which it knows only the id."""
        return await self._close("select queues.release($1, $2)", worker_id, leases)

    async def _close(self, call: str, worker_id: WorkerId, *arguments: object) -> list[LeaseId]:
        return cast("list[LeaseId]", await self._closes.fetchval(call, worker_id, *arguments))


def _identities(leases: Sequence[Lease]) -> tuple[list[LeaseId], list[TaskId]]:
    return [lease.lease_id for lease in leases], [lease.task_id for lease in leases]
