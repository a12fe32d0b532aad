"""A Ray cluster of two nodes in a network namespace of its own, a driver, and what is killed meanwhile.

Run as a program by the tests: `python -m tests.ray.cluster TENANT RUN WHAT`. It prints one JSON document.
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
from penstock.engine.ray_engine import RayDriver, connect
from penstock.model import TenantId
from penstock.settings import Settings


async def main(tenant: str, run: str, what: str) -> None:
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    import ray
    from ray.cluster_utils import Cluster

    url = os.environ["PENSTOCK_DATABASE_URL"]
    if what == "unset":  # nodes have the environment of their machine, not that of the driver
        del os.environ["PENSTOCK_DATABASE_URL"]
        os.environ["PENSTOCK_DATA_DIR"] += "/nowhere"
    # Where a node is to be killed, the head runs no tasks: whatever is held is held by the doomed one.
    cluster: Any = Cluster(initialize_head=True, head_node_args={"num_cpus": 0 if what == "node" else 1})
    doomed: Any = cluster.add_node(num_cpus=1)
    os.environ["PENSTOCK_DATABASE_URL"] = url
    told: dict[str, Any] = {"killed": 0}
    async with Engine(Settings()) as engine:
        tenant_id, run_id = TenantId(UUID(tenant)), UUID(run)
        await connect(cluster.address)
        told["cpus"] = ray.cluster_resources()["CPU"]

        async def look() -> None:
            shown = await engine.reindexes.show(tenant_id, run_id)
            if what == "node" and not told["killed"] and shown.held_shards and shown.closed_shards:
                told["killed"] = kill(doomed)
                told["held"] = (await engine.reindexes.show(tenant_id, run_id)).held_shards
                cluster.add_node(num_cpus=1)  # in this thread: it sets signal handlers
            if what == "driver" and shown.held_shards and shown.closed_shards:
                await asyncio.to_thread(sys.stdout.flush)
                os._exit(9)

        driver = RayDriver(engine.bulk_calls, tenant_id, run_id, cpus=0.5)
        others = [RayDriver(engine.bulk_calls, tenant_id, run_id, cpus=0.5)] if what == "two" else []
        states = await asyncio.gather(driver.drive(look), *(other.drive() for other in others))
        told["states"] = states
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
