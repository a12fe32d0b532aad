"""Runs the shards of a re-index on a Ray cluster: stateless tasks that return counts only."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

from penstock.errors import InvalidArgument, SettingInvalid
from penstock.model import TenantId
from penstock.observe import get_logger

if TYPE_CHECKING:
    from penstock.pipeline.bulk.calls import BulkCalls, RunState

log = get_logger(__name__)

LOOK_SECONDS = 0.5
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
    cpus: float = 0.5
    gpus: float = 0.0
    name: str = field(default_factory=lambda: uuid4().hex[:12])
    _in_work: dict[Any, int] = field(default_factory=dict)
    _not_before: dict[int, float] = field(default_factory=dict)
    _errors: dict[int, int] = field(default_factory=dict)

    async def drive(self, look: Callable[[], Awaitable[bool | None]] | None = None) -> RunState:
        """The state in which the run ended, or waiting.

        `look` is awaited about every half second; it says whether the run waits for a person. Then there is
        nothing to drive, and the workers, which asked the gate's questions, finish it when it was accepted.
        """
        import ray

        # Retried without limit: a node may die at any time, and the claim bounds what a retry can do.
        # A fraction of a processor, so that a cluster that lost a node still has room for every task.
        task = ray.remote(run_shard).options(max_retries=-1, num_cpus=self.cpus, num_gpus=self.gpus or None)
        waits = False
        try:
            while True:
                while await self.calls.plan(self.tenant_id, self.run_id):
                    await self._fill(ray, task)
                state = await self.calls.finish(self.tenant_id, self.run_id)
                if state in ("done", "stopped", "failed"):
                    return state
                if waits and state == "waiting":  # still, and the run's reason now has the verdict
                    await self.calls.hand_over(self.tenant_id, self.run_id)
                    return state
                if state == "running":
                    await self._fill(ray, task)
                await self._collect(ray)
                waits = look is not None and bool(await look())
        finally:
            for reference in self._in_work:
                ray.cancel(reference)

    async def _fill(self, ray: Any, task: Any) -> None:
        """Keep three tasks per processor of the cluster with Ray."""
        cpus = ray.cluster_resources().get("CPU", 1.0)
        room = int(max(1, TASKS_PER_CPU * cpus)) - len(self._in_work)
        if room <= 0:
            return
        now = monotonic()
        taken = [*self._in_work.values(), *(s for s, at in self._not_before.items() if at > now)]
        for each in await self.calls.open_shards(self.tenant_id, self.run_id, taken, room):
            if each.held_seconds > 0 and not self._errors.get(each.shard):
                self._not_before[each.shard] = now + min(each.held_seconds, LOOK_SECONDS * 4)
                continue
            holder = f"ray {self.name} {each.shard}"
            reference = task.remote(str(self.tenant_id), str(self.run_id), each.shard, holder)
            self._in_work[reference] = each.shard

    async def _collect(self, ray: Any) -> None:
        if not self._in_work:
            await asyncio.sleep(LOOK_SECONDS)
            return
        ready, _ = await asyncio.to_thread(
            ray.wait, list(self._in_work), num_returns=1, timeout=LOOK_SECONDS, fetch_local=False
        )
        for reference in ready:
            shard = self._in_work.pop(reference)
            try:
                result = await asyncio.to_thread(ray.get, reference)
            except ray.exceptions.RayError as error:
                result = {"error": str(error).strip().splitlines()[0]}
            await self._note(shard, result)

    async def _note(self, shard: int, result: dict[str, Any]) -> None:
        if "error" in result:
            errors = self._errors[shard] = self._errors.get(shard, 0) + 1
            log.warning("shard_failed", run_id=str(self.run_id), shard=shard, error=result["error"])
            if errors >= MOST_ERRORS:
                await self.calls.fail(
                    self.tenant_id, self.run_id, f"shard {shard} failed on Ray: {result['error']}"
                )
            self._not_before[shard] = monotonic() + 2.0 ** (errors - 1)
            return
        self._errors.pop(shard, None)
        if result["seconds"]:
            self._not_before[shard] = monotonic() + result["seconds"]


def run_shard(tenant_id: str, run_id: str, shard: int, holder: str) -> dict[str, Any]:
    """The task of a Ray node. Where the documents are comes from the node's own environment, and nothing but
    counts goes back."""
    from penstock.engine.ray_node import node

    return node().run(TenantId(UUID(tenant_id)), UUID(run_id), shard, holder)
