"""The bridge in examples/bullmq makes tasks of jobs of npm's BullMQ, on a real Valkey."""

from __future__ import annotations

import subprocess
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from penstock import Exponential
from tests.integration.bullmq_inlets import QUEUES, Moved, example, moved, node_url
from tests.plugins.bullmq import BRIDGE, VERSIONS, Bridges, Hands, NodePackages, Version, hands_on
from tests.plugins.bullmq_bridges import INGEST, job, queues_of_the_example
from tests.plugins.database import Database
from tests.plugins.server_of_own import ServerOfOwn
from tests.plugins.valkey import valkey_server
from tests.plugins.workers import eventually
from tests.sql.queue_calls import calls

EXAMPLE = queues_of_the_example()
# The defaultJobOptions of the team's queues, as their code has them.
OF_THE_TEAM: dict[str, dict[str, Any]] = {
    "ingest-document": {
        "attempts": 3,
        "backoff": {"type": "exponential", "delay": 1000},
        "removeOnComplete": {"count": 1000},
        "removeOnFail": {"count": 5000},
    },
    "sync-connector": {
        "attempts": 2,
        "backoff": {"type": "exponential", "delay": 5000},
        "removeOnComplete": {"count": 100},
        "removeOnFail": {"count": 1000},
    },
    "delete-document": {
        "attempts": 3,
        "backoff": {"type": "exponential", "delay": 1000},
        "removeOnComplete": {"count": 500},
    },
    "reindex-project": {"attempts": 1, "removeOnComplete": {"count": 50}},
}


UNHEARD = (
    'queue "ingest-document" has no task type for jobs named "unheard": add it to "jobs" in the bridge\'s '
    "configuration, restart the bridge and retry the job"
)


REFUSALS = [
    UNHEARD,
    'the data of job "ingest" is not an object: a task\'s payload has to be one',
    'the data of job "ingest" has no "tenantId", which names the tenant',
    "its payload is not a JSON object",  # the character NUL
    "its payload is not a JSON object",  # half a surrogate pair
    "a payload of 1100184 bytes exceeds the limit of 1048576",
    "its tenant is unknown",
    "Postgres cannot store it: unsupported Unicode escape sequence",
]


async def test_the_four_queues_of_a_team_arrive_as_tasks_with_their_meaning(
    database: Database, hands: Hands, bridges: Bridges
) -> None:
    backoff = {"type": "exponential", "delay": 1000}
    options: dict[str, Any] = {"attempts": 3, "backoff": backoff, "removeOnComplete": {"count": 1000}}
    hands.add(INGEST, job(1, jobId="ingest-d1", priority=1, **options), job(2, jobId="ingest-d2", priority=2))
    hands.add("sync-connector", job(3, "sync", attempts=2, backoff={"type": "exponential", "delay": 5000}))
    hands.add("delete-document", job(4, "delete", **options))
    hands.add("reindex-project", job(5, "reindex", attempts=1))
    async with moved(database) as there:
        bridge = bridges.start(queues=EXAMPLE)
        await eventually(lambda: there.numbers_are(1, 2, 3, 4, 5))
        by_number = {task["payload"]["n"]: task for task in await there.tasks()}
        seen = {
            n: (t["task_type"], t["priority"], t["max_attempts"], t["on_duplicate"])
            for n, t in by_number.items()
        }
        assert seen == {
            1: ("ingest_document", 1, 3, "replace"),
            2: ("ingest_document", 2, None, "replace"),
            3: ("sync_connector", 0, 2, None),
            4: ("delete_document", 0, 3, None),
            5: ("reindex_project", 0, 1, None),
        }
        assert {task["tenant"] for task in by_number.values()} == {"acme"}
        about = by_number[1]["payload"].pop("bullmq")
        assert by_number[1]["payload"] == {"n": 1, "documentId": "d1", "tenantId": "acme"}
        assert {key: about[key] for key in ("queue", "id", "name", "attempts", "backoff", "priority")} == {
            "queue": INGEST,
            "id": "ingest-d1",
            "name": "ingest",
            "attempts": 3,
            "backoff": backoff,
            "priority": 1,
        }
        await eventually(lambda: all(not hands.counts(queue) for queue in QUEUES))
        said = bridges.stop(bridge)
        assert sum(line["taken"] for line in said if line["event"] == "stopped") == 5


@pytest.mark.parametrize("version", VERSIONS)
async def test_the_bridge_runs_on_each_bullmq_and_takes_jobs_of_all_of_them(
    database: Database, hands: Hands, bridges: Bridges, version: Version
) -> None:
    for producer in VERSIONS:
        n = int(producer)
        hands.add(INGEST, job(n), job(10 + n, delay=300, priority=3), version=producer)
    async with moved(database) as there:
        bridge = bridges.start(version=version)
        await eventually(lambda: there.numbers_are(4, 5, 6, 14, 15, 16))
        await eventually(lambda: not hands.counts(INGEST))
        bridges.stop(bridge)


@pytest.mark.parametrize("point", ["received", "committed", "acknowledged"])
async def test_a_bridge_killed_at_any_point_loses_and_doubles_nothing(
    database: Database, hands: Hands, bridges: Bridges, point: str
) -> None:
    hands.add(INGEST, *(job(n) for n in range(6)))
    async with moved(database) as there:
        first = bridges.start(
            fault=f"inlet.{point}@3", queues={INGEST: {**bridges.config["queues"][INGEST], "concurrency": 1}}
        )
        assert first.wait(30) == -9
        assert await there.numbers() == ([0, 1] if point == "received" else [0, 1, 2])
        second = bridges.start()
        await eventually(lambda: there.numbers_are(*range(6)))
        await eventually(lambda: not hands.counts(INGEST))
        assert (await there.counted()).get("duplicates", 0) == (1 if point == "committed" else 0)
        bridges.stop(second)


async def test_jobs_survive_a_killed_redis_under_a_running_bridge(
    database: Database, node_packages: NodePackages, bridges: Bridges
) -> None:
    with valkey_server() as valkey, hands_on(valkey, node_packages) as hands:
        bridges.environment["REDIS_URL"] = valkey.url
        async with moved(database) as there:
            bridge = bridges.start()
            hands.add(INGEST, job(1), job(2, delay=1_000))
            await eventually(lambda: there.numbers_are(1))
            valkey.kill()
            valkey.start()
            hands.add(INGEST, job(3))
            await eventually(lambda: there.numbers_are(1, 2, 3), within=30)
            bridges.stop(bridge)


async def test_jobs_wait_in_redis_while_postgres_is_down(
    server_of_own: ServerOfOwn, hands: Hands, bridges: Bridges
) -> None:
    bridges.environment["PENSTOCK_DATABASE_URL"] = node_url(server_of_own.database)
    async with moved(server_of_own.database) as there:
        bridge = bridges.start()
        hands.add(INGEST, job(1))
        await eventually(lambda: there.numbers_are(1))
    server_of_own.stop("immediate")
    hands.add(INGEST, job(2, attempts=1), job(3))
    await eventually(lambda: hands.counts(INGEST) == {"active": 2})
    server_of_own.start()
    await eventually(lambda: not hands.counts(INGEST), within=60)
    async with server_of_own.database.connect() as admin:
        assert await Moved(admin).numbers() == [1, 2, 3]
    bridges.stop(bridge)


async def test_a_job_added_again_is_taken_again_and_a_redelivered_one_is_not(
    database: Database, hands: Hands, bridges: Bridges
) -> None:
    async with moved(database) as there:
        bridge = bridges.start()
        kept: dict[str, Any] = {"jobId": "ingest-d1", "removeOnComplete": {"count": 1000}}
        [first] = hands.add(INGEST, job(1, **kept))
        await eventually(lambda: there.numbers_are(1))
        await eventually(lambda: not hands.counts(INGEST))
        hands.add(INGEST, job(2, **kept))
        await eventually(lambda: there.numbers_are(1, 2))
        await eventually(lambda: not hands.counts(INGEST))
        hands.add(INGEST, job(3, **kept, timestamp=first["timestamp"]))
        await eventually(lambda: not hands.counts(INGEST))
        assert await there.counted() == {"taken": 2, "duplicates": 1}
        bridges.stop(bridge)


async def test_a_job_id_belongs_to_its_queue_though_two_lead_to_one_task_type(
    database: Database, hands: Hands, bridges: Bridges
) -> None:
    hands.add(INGEST, job(1, jobId="d1"))
    hands.add("urgent", job(2, jobId="d1"))
    async with moved(database) as there:
        bridge = bridges.start(queues={INGEST: EXAMPLE[INGEST], "urgent": EXAMPLE[INGEST]})
        await eventually(lambda: there.numbers_are(1, 2))
        assert await there.open_numbers() == [1, 2]
        bridges.stop(bridge)


async def test_what_cannot_become_a_task_stays_in_the_failed_set_with_the_reason(
    database: Database, hands: Hands, bridges: Bridges
) -> None:
    def odd(name: str, data: Any) -> dict[str, Any]:
        return {"name": name, "data": data, "opts": {"attempts": 3, "removeOnFail": True}}

    whose = {"tenantId": "acme"}
    hands.add(
        INGEST,
        odd("unheard", whose),
        odd("ingest", [1]),
        odd("ingest", {"text": "a\0b", **whose}),
        odd("ingest", {"text": "\ud800", **whose}),
        odd("ingest", {"text": "x" * 1_100_000, **whose}),
        odd("ingest", {"text": "whose?"}),
        odd("ingest", {"tenantId": "another"}),
        odd("ingest", {"tenantId": "nul\0"}),
        job(1),
    )
    # No client of BullMQ writes this, and BullMQ itself fails at it; it must not stop the others.
    hands.ask("raw", command=["HSET", f"bull:{INGEST}:broken", "name", "ingest", "data", "{", "opts", "{}"])
    hands.ask("raw", command=["LPUSH", f"bull:{INGEST}:wait", "broken"])
    async with moved(database) as there:
        bridge = bridges.start()
        await eventually(lambda: there.numbers_are(1))
        await eventually(lambda: hands.counts(INGEST).get("failed") == 8)
        assert sorted(failed["reason"] for failed in hands.failed(INGEST)) == sorted(REFUSALS)
        assert await there.counted() == {"taken": 1, "refused": 8}
        assert await there.admin.fetchval("select count(*) from accounts.tenant") == 1
        # Declared meanwhile, and tried again by a person: it is taken now.
        bridges.stop(bridge)
        jobs = {"ingest": "ingest_document", "unheard": "ingest_document"}
        bridge = bridges.start(queues={INGEST: {**bridges.config["queues"][INGEST], "jobs": jobs}})
        unheard = next(failed["id"] for failed in hands.failed(INGEST) if failed["name"] == "unheard")
        hands.ask("retry", queue=INGEST, id=unheard)

        async def taken() -> bool:
            return (await there.counted())["taken"] == 2

        await eventually(taken)
        assert len(hands.failed(INGEST)) == 7
        bridges.stop(bridge)


async def test_a_job_that_postgres_rejects_is_refused_and_holds_up_no_other(
    database: Database, hands: Hands, bridges: Bridges
) -> None:
    """Such as one that a trigger or a constraint of the team's own does not accept."""
    async with moved(database) as there:
        await there.admin.execute(
            "alter table queues.task add constraint not_thirteen check (payload ->> 'n' <> '13')"
        )
        hands.add(INGEST, *(job(n) for n in range(10, 20)))
        bridge = bridges.start()
        await eventually(lambda: there.numbers_are(10, 11, 12, 14, 15, 16, 17, 18, 19))
        await eventually(lambda: hands.counts(INGEST).get("failed") == 1)
        (failed,) = hands.failed(INGEST)
        assert failed["reason"].startswith("Postgres rejected it (23514)")
        bridges.stop(bridge)


async def test_schedulers_are_refused_and_of_flows_only_the_children_are_moved(
    database: Database, hands: Hands, bridges: Bridges
) -> None:
    hands.ask("every", version=6, queue=INGEST, name="ingest", milliseconds=3_600_000)
    parent = {"queueName": INGEST, **job(2), "children": [{"queueName": INGEST, **job(1)}]}
    hands.ask("flow", version=6, tree=parent)
    async with moved(database) as there:
        bridge = bridges.start()
        await eventually(lambda: hands.counts(INGEST).get("failed") == 2)
        reasons = " ".join(failed["reason"] for failed in hands.failed(INGEST))
        assert "declare a schedule in Penstock" in reasons
        assert "is the parent of a flow" in reasons
        assert await there.numbers() == [1]
        bridges.stop(bridge)


async def test_two_bridges_share_the_jobs_and_take_each_once(
    database: Database, hands: Hands, bridges: Bridges
) -> None:
    hands.add(INGEST, *(job(n) for n in range(300)))
    async with moved(database) as there:
        both = [bridges.start(version=5), bridges.start(version=6)]
        await eventually(lambda: there.numbers_are(*range(300)))
        await eventually(lambda: not hands.counts(INGEST))
        for bridge in both:
            bridges.stop(bridge)


def test_the_examples_tasks_are_those_its_configuration_names() -> None:
    named = {task_type for settings in EXAMPLE.values() for task_type in settings["jobs"].values()}
    assert named == {task_type for jobs in QUEUES.values() for task_type in jobs.values()}
    assert named == example().types.keys()


@pytest.mark.parametrize("queue", QUEUES)
def test_the_examples_tasks_retry_as_the_teams_queues_were_told(queue: str) -> None:
    told = OF_THE_TEAM[queue]
    (name,) = QUEUES[queue].values()
    options = example().types[name].options
    assert options.max_attempts == told["attempts"]
    if "backoff" in told:
        assert told["backoff"]["type"] == "exponential"
        assert options.retry == Exponential(base=told["backoff"]["delay"] / 1000, factor=2, jitter=0)


async def test_a_bridged_job_that_fails_is_tried_again_after_one_second_and_then_after_two(
    database: Database, hands: Hands, bridges: Bridges
) -> None:
    # As the team's producers add it: with the queue's defaults.
    hands.add(INGEST, job(1, **OF_THE_TEAM[INGEST]))
    async with moved(database) as there, calls(database) as queue:
        bridge = bridges.start()
        await eventually(lambda: there.numbers_are(1))
        bridges.stop(bridge)
        worker = await queue.worker(lease_seconds=60)
        for seconds in (1, 2):
            answer = await queue.fail(worker, await queue.claim_one(worker))
            assert (answer["outcome"], answer["retry_at"] - queue.clock.now) == (
                "retry",
                timedelta(seconds=seconds),
            )
            await queue.clock.advance(seconds=seconds - 0.001)
            await queue.admit()
            assert await queue.claim(worker) == []
            await queue.clock.advance(seconds=0.001)
        assert (await queue.fail(worker, await queue.claim_one(worker)))["outcome"] == "dead"


@pytest.mark.parametrize(
    ("config", "remedy"),
    [
        ("{", "cannot be read"),
        ("{}", '"queues" names no queue'),
        ('{"queues": {"q": {}}}', 'queue "q" has no "jobs"'),
        ('{"queues": {"q": {"jobs": {"a": "b"}, "levels": [1,2,3,4,5,6,7,8,9,10]}}}', 'more than 9 "levels"'),
        ('{"queues": {"q": {"jobs": {"a": "b"}, "fixed_tenant": "nobody"}}}', "there is no tenant 'nobody'"),
    ],
)
def test_a_wrong_configuration_ends_the_bridge_with_the_remedy(
    database: Database, node_packages: NodePackages, tmp_path: Path, config: str, remedy: str
) -> None:
    (tmp_path / "bridge.json").write_text(config)
    done = subprocess.run(
        [node_packages.node, BRIDGE, tmp_path / "bridge.json"],
        cwd=node_packages.project(6),
        env={"PENSTOCK_DATABASE_URL": node_url(database)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert remedy in done.stderr
