"""Bridges from BullMQ that are killed at random points of their work: each job becomes a task once."""

from __future__ import annotations

import json
import random
from pathlib import Path

from tests.chaos.work import LONG
from tests.integration.bullmq_inlets import moved, node_url
from tests.plugins.bullmq import VERSIONS, Bridges, NodePackages, hands_on
from tests.plugins.database import Database
from tests.plugins.valkey import valkey_server
from tests.plugins.workers import eventually

QUEUE = "ingest-document"
JOBS = 3_000 if LONG else 60
LEAST_KILLS = 30 if LONG else 0
RATE = 0.01 if LONG else 0.02
POINTS = ("received", "committed", "acknowledged")


async def test_each_job_of_bullmq_becomes_a_task_once_under_kill_9_of_two_bridges(
    database: Database, node_packages: NodePackages, tmp_path: Path
) -> None:
    config = {
        "lock_ms": 1_000,
        "queues": {QUEUE: {"jobs": {"ingest": "ingest_document"}, "concurrency": 20}},
    }
    kills = 0
    with valkey_server() as valkey, hands_on(valkey, node_packages) as hands:
        environment = {"PENSTOCK_DATABASE_URL": node_url(database), "REDIS_URL": valkey.url}
        bridges = Bridges(node_packages, tmp_path, environment, config)
        hands.add(QUEUE, *({"name": "ingest", "data": {"n": n}} for n in range(JOBS)))

        def start() -> None:
            fault = ",".join(f"inlet.{point}@{RATE}" for point in POINTS)
            bridges.start(version=random.choice(VERSIONS), fault=fault)

        async with moved(database) as there:
            start()
            start()

            def is_empty() -> bool:
                nonlocal kills
                for bridge in list(bridges.running):
                    if bridge.poll() is not None:
                        said, _ = bridge.communicate()
                        assert bridge.returncode == -9, said
                        kills += 1
                        bridges.running.remove(bridge)
                        start()
                return not hands.counts(QUEUE)

            try:
                await eventually(is_empty, within=1_500 if LONG else 90, every=0.05)
            finally:
                bridges.end()
            assert await there.numbers() == list(range(JOBS))
            assert kills >= LEAST_KILLS
            print(json.dumps({"jobs": JOBS, "kills": kills, **await there.counted()}))
