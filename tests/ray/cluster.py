"""A Ray cluster of two nodes in a network namespace of its own, a driver, and what is killed meanwhile.

Run as a program by the tests: `python -m tests.ray.cluster TENANT RUN WHAT`. It prints one JSON document,
which has everything that crossed the cluster.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from typing import Any
from uuid import UUID

import psutil

from penstock.engine.engine import Engine
from penstock.engine.ray_cluster import RayCluster
from penstock.engine.ray_engine import RayDriver, connect
from penstock.model import TenantId
from penstock.settings import Settings

KILLS_A_NODE = ("node", "node that embeds")
EMBEDDED = "select last_value >= $1 from public.staged"
NOTE_KILL = "insert into public.killed default values"
BLOCKED_AT = 5
"""Which document is never staged by a node that is to be killed after it embedded its texts."""


class RecordingCluster(RayCluster):
    """Keeps what is given to Ray's tasks and what comes back."""

    def __init__(self, *, cpus: float) -> None:
        super().__init__(cpus=cpus)
        self.arguments: list[list[object]] = []
        self.answers: list[dict[str, object]] = []
        task = self._task
        self._task = self
        self._remote = task.remote

    def remote(self, *arguments: object) -> Any:
        self.arguments.append(list(arguments))
        return self._remote(*arguments)

    async def _answer(self, reference: Any) -> dict[str, Any]:
        answer = await super()._answer(reference)
        self.answers.append(answer)
        return answer


async def main(tenant: str, run: str, what: str) -> None:
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    import ray
    from ray.cluster_utils import Cluster

    url = os.environ["PENSTOCK_DATABASE_URL"]
    if what == "unset":  # nodes have the environment of their machine, not that of the driver
        del os.environ["PENSTOCK_DATABASE_URL"]
        os.environ["PENSTOCK_DATA_DIR"] += "/nowhere"
    # Where a node is to be killed, the head runs no tasks: whatever is held is held by the doomed one.
    cluster: Any = Cluster(
        initialize_head=True, head_node_args={"num_cpus": 0 if what in KILLS_A_NODE else 1}
    )
    doomed: Any = cluster.add_node(num_cpus=1)
    os.environ["PENSTOCK_DATABASE_URL"] = url
    told: dict[str, Any] = {"killed": 0}
    async with Engine(Settings()) as engine:
        tenant_id, run_id = TenantId(UUID(tenant)), UUID(run)
        await connect(cluster.address)
        told["cpus"] = ray.cluster_resources()["CPU"]

        async def is_time() -> bool:
            shown = await engine.reindexes.show(tenant_id, run_id)
            if what == "node that embeds" and not await engine.tenants.pool.fetchval(EMBEDDED, BLOCKED_AT):
                return False
            return bool(shown.held_shards and shown.closed_shards)

        async def look() -> None:
            if what in KILLS_A_NODE and not told["killed"] and await is_time():
                told["killed"] = kill(doomed)
                told["held"] = (await engine.reindexes.show(tenant_id, run_id)).held_shards
                if what == "node that embeds":
                    await engine.tenants.pool.execute(NOTE_KILL)
                cluster.add_node(num_cpus=1)  # in this thread: it sets signal handlers
            if what == "driver" and await is_time():
                await asyncio.to_thread(sys.stdout.flush)
                os._exit(9)

        # One task at a time where the texts are counted: two processes may embed the same text at once.
        given = RecordingCluster(cpus=1.0 if what == "node that embeds" else 0.5)
        drivers = [RayDriver(engine.bulk_calls, tenant_id, run_id, given) for _ in range(1 + (what == "two"))]
        told["states"] = await asyncio.gather(*(driver.drive(look) for driver in drivers))
        told["arguments"], told["answers"] = given.arguments, given.answers
    sys.stdout.write(json.dumps(told))
    sys.stdout.flush()
    os._exit(0)  # the namespace ends with this process, and everything of Ray with it


def kill(node: Any) -> int:
    """Kill a node: its raylet and all processes below it, as a machine that loses power."""
    raylets = [info[0].process for name, info in node.all_processes.items() if name == "raylet"]
    victims = [each for raylet in raylets for each in psutil.Process(raylet.pid).children(recursive=True)]
    for raylet in raylets:
        raylet.kill()
    for victim in victims:
        if victim.is_running():
            victim.kill()
    return len(raylets) + len(victims)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
