"""What a handler gets about its run, and how it commits its writes and completes the task at once."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Literal
from uuid import UUID

from penstock.db import Connection, Pool
from penstock.db.connect import CONNECTION_LOST, translated
from penstock.errors import InvalidMove
from penstock.model import Lease, LeaseId, TaskId, WorkerId
from penstock.queue.task_run import Values
from penstock.worker.registration import Registration

COMPLETE_HERE = "select queues.complete_here($1, $2, $3)"
BEGIN_RUN = (
    "select set_config('idle_in_transaction_session_timeout', $1, true),"
    " set_config('penstock.tenant_id', $2, true)"
)


class Context:
    """One run of one task. `lease_id` is its fencing token: pass it to systems that can check one."""

    __slots__ = ("_lease", "_pool", "_registration", "closed", "counts_as")

    def __init__(
        self,
        lease: Lease,
        registration: Registration,
        pool: Callable[[], Awaitable[Pool]],
    ) -> None:
        self._lease = lease
        self._pool = pool
        self._registration = registration
        self.closed = False
        """True once this run closed its own lease in a transaction."""
        self.counts_as: Literal["success", "failed"] = "success"
        """How a run that closed its own lease counts in `job_completed_total`."""

    @property
    def worker_id(self) -> WorkerId:
        """The registration of the worker that runs it."""
        return self._registration.worker_id

    @property
    def task_id(self) -> TaskId:
        """The same for every run of the task."""
        return self._lease.task_id

    @property
    def lease_id(self) -> LeaseId:
        """The fencing token of this run; a later claim has a higher one."""
        return self._lease.lease_id

    @property
    def attempt(self) -> int:
        """Which run this is, from one."""
        return self._lease.attempt

    @property
    def losses(self) -> int:
        """How many workers were lost while they ran this task."""
        return self._lease.losses

    @property
    def tenant_id(self) -> UUID | None:
        """The tenant of the task, or None."""
        return self._lease.tenant_id

    @asynccontextmanager
    async def transaction(
        self, *, counts_as: Literal["success", "failed"] = "success"
    ) -> AsyncIterator[Connection]:
        """A transaction of the task's tenant whose commit also completes the task.

        A run that records a final failure completes its task too; with `counts_as` "failed" it does not count
        as a success in the metrics.

        The lease is closed last, so that nothing is locked while the handler works; if the task was given to
        another worker meanwhile, LeaseLost rolls everything back.
        """
        pool = await self._pool()
        async with pool.acquire() as connection:
            committing = False
            try:
                async with connection.transaction():
                    # A handler that hangs in here must not hold its locks past the lease. Both settings end
                    # with the transaction, so they are safe behind a transaction pooler.
                    tenant = self._lease.tenant_id
                    limit = str(int(self._registration.lease_seconds * 1000))
                    await connection.execute(BEGIN_RUN, limit, "" if tenant is None else str(tenant))
                    yield connection
                    await self.complete_in(connection)
                    self.counts_as = counts_as
                    committing = True
            except CONNECTION_LOST:
                if not committing or await self._still_held(pool):
                    self.closed = False
                    raise
            except BaseException:
                self.closed = False
                raise

    async def complete_in(self, connection: Connection) -> None:
        """Complete the task in the caller's transaction; takes effect when that commits."""
        if self.closed:
            raise InvalidMove("this run already completed its task", "lease_id", "Complete a task once.")
        with translated():
            await connection.execute(COMPLETE_HERE, self.worker_id, self._lease.lease_id, self._lease.task_id)
        self.closed = True

    @asynccontextmanager
    async def closing(self) -> AsyncIterator[Callable[[Connection], Awaitable[None]]]:
        """For a transaction that another part of the program opens inside this block.

        What it yields completes the task in that transaction, as its last statement. If the block fails, the
        task is not completed; if the connection broke at the commit, the lease says whether it was.
        """
        try:
            yield self.complete_in
        except CONNECTION_LOST:
            if not self.closed or await self._still_held(await self._pool()):
                self.closed = False
                raise
        except BaseException:
            self.closed = False
            raise

    async def complete_by(self, pool: Values, statement: str, *arguments: object) -> Any:
        """Run one statement that completes the task itself, as its own transaction; returns its value.

        Its first four parameters are the tenant, the worker, the lease and the task, then the arguments. If
        the connection broke and the lease is gone, it did commit: None. The pool is the caller's:
        a statement that leaves no session state does not need one that resets its connections.
        """
        if self.closed:
            raise InvalidMove("this run already completed its task", "lease_id", "Complete a task once.")
        lease = self._lease
        try:
            with translated():
                value = await pool.fetchval(
                    statement, lease.tenant_id, self.worker_id, lease.lease_id, lease.task_id, *arguments
                )
        except CONNECTION_LOST:
            if await self._still_held(pool):
                raise
            value = None
        self.closed = True
        return value

    async def extend(self, seconds: float) -> bool:
        """Move the task's deadline to this many seconds from now; False if the lease is lost."""
        pool = await self._pool()
        with translated():
            extended: bool = await pool.fetchval(
                "select queues.extend($1, $2, $3)", self.worker_id, self._lease.lease_id, seconds
            )
        return extended

    async def _still_held(self, pool: Values) -> bool:
        """The connection broke at commit: if the lease still exists, nothing was committed."""
        held: bool = await pool.fetchval("select queues.holds($1, $2)", self.worker_id, self._lease.lease_id)
        return held
