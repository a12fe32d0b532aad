"""What a driver asks of a cluster: how large it is, to run a shard, and which shards have ended."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Protocol
from uuid import UUID

from penstock.model import TenantId

LONGEST_TEXT = 500
"""Characters of an error's text that go back to the driver."""


class ShardCluster(Protocol):
    """Runs shards somewhere else. A reference is whatever it returns for a shard that it was given.

    An answer has the counts of a `ShardResult`; or `error`, the text of an error; or `cut_off`, how the node
    lost the database, which says nothing about the shard.
    """

    def processors(self) -> float: ...

    def give(self, tenant_id: str, run_id: str, shard: int, holder: str) -> Any: ...

    async def first_ended(self, given: Sequence[Any], seconds: float) -> Sequence[tuple[Any, dict[str, Any]]]:
        """References that have ended, with their answers; none if none has within some seconds."""
        ...

    def cancel(self, reference: Any) -> None: ...


class RayCluster:
    """The cluster that this process is connected to."""

    def __init__(self, *, cpus: float = 0.5, gpus: float = 0.0) -> None:
        import ray

        self._ray: Any = ray
        # Retried without limit: a node may die at any time, and the claim bounds what a retry can do.
        # A fraction of a processor, so that a cluster that lost a node still has room for every task.
        self._task = ray.remote(run_shard).options(max_retries=-1, num_cpus=cpus, num_gpus=gpus or None)

    def processors(self) -> float:
        return float(self._ray.cluster_resources().get("CPU", 1.0))

    def give(self, tenant_id: str, run_id: str, shard: int, holder: str) -> Any:
        return self._task.remote(tenant_id, run_id, shard, holder)

    async def first_ended(self, given: Sequence[Any], seconds: float) -> Sequence[tuple[Any, dict[str, Any]]]:
        ready, _ = await asyncio.to_thread(
            self._ray.wait, list(given), num_returns=1, timeout=seconds, fetch_local=False
        )
        return [(reference, await self._answer(reference)) for reference in ready]

    async def _answer(self, reference: Any) -> dict[str, Any]:
        try:
            answer: dict[str, Any] = await asyncio.to_thread(self._ray.get, reference)
        except self._ray.exceptions.RayError as error:
            return {"error": text_of_error(error)}
        return answer

    def cancel(self, reference: Any) -> None:
        self._ray.cancel(reference)


def run_shard(tenant_id: str, run_id: str, shard: int, holder: str) -> dict[str, Any]:
    """The task of a Ray node. Where the documents are comes from the node's own environment, and nothing but
    counts goes back."""
    from penstock.engine.ray_node import node

    return node().run(TenantId(UUID(tenant_id)), UUID(run_id), shard, holder)


def text_of_error(error: BaseException) -> str:
    """Its first line with its type; never long."""
    said = str(error).strip().splitlines()
    return f"{type(error).__name__}: {said[0] if said else 'no text'}"[:LONGEST_TEXT]
