"""Runs the shards of a re-index on a Ray cluster: stateless tasks that return counts only."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import UUID, uuid4

from penstock.db.connect import CONNECTION_LOST
from penstock.db.pause import pause
from penstock.errors import InvalidArgument, SettingInvalid
from penstock.model import TenantId
from penstock.observe import get_logger

if TYPE_CHECKING:
    from penstock.engine.ray_cluster import ShardCluster
    from penstock.pipeline.bulk.calls import BulkCalls, RunState

log = get_logger(__name__)

T = TypeVar("T")

LOOK_SECONDS = 0.5
OUTAGE_SECONDS = 600.0
"""For how long the database may be unreachable before a driver gives up."""
RETRY_SECONDS = 0.5
LONGEST_RETRY_SECONDS = 10.0
CONNECT_SECONDS = 5.0
TASKS_PER_CPU = 3
"""Tasks given to Ray ahead: enough that no processor waits for the driver."""
MOST_ERRORS = 5
"""After this many errors of one shard in a row the run fails: they will not go away."""


async def connect(address: str | None) -> None:
    """Join the cluster at an address (auto: the one that runs here), or start Ray on this machine alone."""
    try:
        import ray
    except ImportError:
        raise SettingInvalid(
            "engine", "ray is not installed; install it: pip install 'penstock[ray]', or use --engine queue"
        ) from None
    if address is not None:
        await _check(address)
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        await asyncio.to_thread(
            ray.init,
            address=address,
            ignore_reinit_error=True,
            include_dashboard=False if address is None else None,
            log_to_driver=False,
            logging_level="ERROR",
        )
    except Exception as error:  # Ray has a class for each way in which it cannot connect
        said = str(error).strip().splitlines()
        hint = (
            "Check the address (ray status), and that RAY_AUTH_TOKEN or RAY_AUTH_TOKEN_PATH is the cluster's"
        )
        raise InvalidArgument(
            f"Ray cannot be reached{'' if address is None else f' at {address}'}:"
            f" {said[0] if said else type(error).__name__}",
            "address",
            hint,
        ) from error


async def _check(address: str) -> None:
    """Ray retries for a minute before it says that nobody listens; find out at once."""
    if address == "auto":
        return
    host, _, port = address.rpartition(":")
    if "://" in address or not host or not port.isdigit():
        raise InvalidArgument(
            f"{address!r} is not the address of a Ray cluster", "address", "Use HOST:PORT (port 6379) or auto"
        )
    try:
        async with asyncio.timeout(CONNECT_SECONDS):
            _, writer = await asyncio.open_connection(host.strip("[]"), int(port))
        writer.close()
    except (OSError, OverflowError, TimeoutError) as error:
        raise InvalidArgument(
            f"nothing answers at {address}: {str(error) or 'no answer in time'}",
            "address",
            "Check the address with ray status on the head node, or omit --address to use this machine alone",
        ) from error


@dataclass(slots=True)
class RayDriver:
    """Gives out open shards until the run has ended. Any number of drivers may drive one run: the claim of a
    shard decides who works on it, and its token which result counts."""

    calls: BulkCalls
    tenant_id: TenantId
    run_id: UUID
    cluster: ShardCluster
    name: str = field(default_factory=lambda: uuid4().hex[:12])
    outage_seconds: float = OUTAGE_SECONDS
    retry_seconds: float = RETRY_SECONDS
    _in_work: dict[Any, int] = field(default_factory=dict)
    _not_before: dict[int, float] = field(default_factory=dict)
    _errors: dict[int, int] = field(default_factory=dict)
    _cut_off: dict[int, float] = field(default_factory=dict)
    """Since when the nodes of these shards have not reached the database."""
    _waits: bool = False

    async def drive(self, look: Callable[[], Awaitable[bool | None]] | None = None) -> RunState:
        """The state in which the run ended, or waiting.

        `look` is awaited about every half second; it says whether the run waits for a person. Then there is
        nothing to drive, and the workers, which asked the gate's questions, finish it when it was accepted.
        """
        try:
            # A step is repeated whole: what was known before an outage may no longer be so.
            while (state := await self.outlast(partial(self._step, look))) is None:
                pass
            return state
        finally:
            for reference in self._in_work:
                self.cluster.cancel(reference)

    async def outlast(self, call: Callable[[], Awaitable[T]]) -> T:
        """Repeat a call while the database cannot be reached, for ten minutes; then raise what it raises."""
        since, wait = None, self.retry_seconds
        while True:
            try:
                answer = await call()
            except CONNECTION_LOST as error:
                now = monotonic()
                since = now if since is None else since
                if isinstance(error, ValueError) or now + wait - since > self.outage_seconds:
                    raise
                log.throttled("database_lost", duty="ray driver", error=error)
                await pause(wait)
                wait = min(2 * wait, LONGEST_RETRY_SECONDS)
            else:
                if since is not None:  # the nodes were cut off by the same outage
                    self._cut_off = dict.fromkeys(self._cut_off, monotonic())
                return answer

    async def _step(self, look: Callable[[], Awaitable[bool | None]] | None) -> RunState | None:
        """Plan, give out and collect once; the state if there is nothing left to drive."""
        while await self.calls.plan(self.tenant_id, self.run_id):
            await self._fill()
        state = await self.calls.finish(self.tenant_id, self.run_id)
        if state in ("done", "stopped", "failed"):
            return state
        if self._waits and state == "waiting":  # still, and the run's reason now has the verdict
            await self.calls.hand_over(self.tenant_id, self.run_id)
            return state
        if state == "running":
            await self._fill()
        await self._collect()
        self._waits = look is not None and bool(await look())
        return None

    async def _fill(self) -> None:
        """Keep three tasks per processor of the cluster with Ray."""
        room = int(max(1, TASKS_PER_CPU * self.cluster.processors())) - len(self._in_work)
        if room <= 0:
            return
        now = monotonic()
        taken = [*self._in_work.values(), *(s for s, at in self._not_before.items() if at > now)]
        for each in await self.calls.open_shards(self.tenant_id, self.run_id, taken, room):
            # One that our own task could not give back is still held in its name, which may claim it again.
            ours = each.shard in self._errors or each.shard in self._cut_off
            if each.held_seconds > 0 and not ours:
                self._not_before[each.shard] = now + min(each.held_seconds, LOOK_SECONDS * 4)
                continue
            holder = f"ray {self.name} {each.shard}"
            reference = self.cluster.give(str(self.tenant_id), str(self.run_id), each.shard, holder)
            self._in_work[reference] = each.shard

    async def _collect(self) -> None:
        if not self._in_work:
            await asyncio.sleep(LOOK_SECONDS)
            return
        for reference, answer in await self.cluster.first_ended(list(self._in_work), LOOK_SECONDS):
            await self._note(self._in_work.pop(reference), answer)

    async def _note(self, shard: int, answer: dict[str, Any]) -> None:
        if "cut_off" in answer:
            await self._note_cut_off(shard, answer["cut_off"])
            return
        self._cut_off.pop(shard, None)
        if "error" in answer:
            errors = self._errors[shard] = self._errors.get(shard, 0) + 1
            log.warning("shard_failed", run_id=str(self.run_id), shard=shard, error=answer["error"])
            self._not_before[shard] = monotonic() + 2.0 ** (errors - 1)
            if errors >= MOST_ERRORS:
                await self._fail(f"shard {shard} failed on Ray: {answer['error']}")
            return
        self._errors.pop(shard, None)
        if answer["seconds"]:
            self._not_before[shard] = monotonic() + answer["seconds"]

    async def _note_cut_off(self, shard: int, text: str) -> None:
        """An outage is no error of the shard, unless only the nodes have it and it does not end."""
        now = monotonic()
        since = self._cut_off.setdefault(shard, now)
        log.throttled("database_lost", duty="ray node", run_id=str(self.run_id), shard=shard, error=text)
        # The longer it lasts, the rarer: a quarter of the time so far.
        self._not_before[shard] = now + min(max((now - since) / 4, self.retry_seconds), LONGEST_RETRY_SECONDS)
        if now - since > self.outage_seconds:
            await self._fail(
                f"the Ray nodes have not reached the database for {now - since:.0f} seconds: {text}"
            )

    async def _fail(self, reason: str) -> None:
        await self.calls.fail(self.tenant_id, self.run_id, reason)
