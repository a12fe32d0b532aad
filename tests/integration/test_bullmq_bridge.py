"""The bridge in examples/bullmq makes tasks of jobs of npm's BullMQ, on a real Valkey."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from penstock import Exponential
from tests.integration.bullmq_inlets import QUEUES, Moved, example, moved, node_url
from tests.plugins.bullmq import BRIDGE, VERSIONS, Bridges, Hands, NodePackages, Version, hands_on
from tests.plugins.database import Database
from tests.plugins.server_of_own import ServerOfOwn
from tests.plugins.valkey import Valkey, valkey_server
from tests.plugins.workers import eventually
from tests.sql.queue_calls import calls

INGEST = "ingest-document"
EXAMPLE = json.loads((BRIDGE.parent / "bridge.json").read_text())["queues"]
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
ON_ONE_JOB = """
const [url, queue, id, method, ...words] = process.argv.slice(1);
const { hostname: host, port } = new URL(url);
const source = new (require("bullmq").Queue)(queue, { connection: { host, port: Number(port) } });
source.getJob(id).then((job) => job[method](...words.map(Number))).then(() => process.exit(0));
"""
IN_NANOSECONDS = 1.8e18
NEVER = 2**53 - 1
"""JavaScript's Number.MAX_SAFE_INTEGER."""
SLOW_ROWS = """
create function public.dawdle() returns trigger language plpgsql as $$
begin perform pg_sleep(0.15); return new; end $$;
create trigger dawdle before insert on queues.task for each row execute function public.dawdle();
"""
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


@pytest.fixture
def bridges(
    valkey: Valkey, hands: Hands, node_packages: NodePackages, database: Database, tmp_path: Path
) -> Iterator[Bridges]:
    """Bridges on this test's database and the module's Valkey, which begins empty."""
    valkey.flush()
    config = {"queues": {INGEST: EXAMPLE[INGEST]}, "lock_ms": 1000}
    environment = {"PENSTOCK_DATABASE_URL": node_url(database), "REDIS_URL": valkey.url}
    started = Bridges(node_packages, tmp_path, environment, config)
    yield started
    started.end()


def job(n: int, name: str = "ingest", **opts: Any) -> dict[str, Any]:
    return {"name": name, "data": {"n": n, "documentId": f"d{n}", "tenantId": "acme"}, "opts": opts}


def ask_job(bridges: Bridges, version: Version, job_id: str, method: str, *words: int) -> None:
    """Call a method of BullMQ's Job, as a team's own scripts do."""
    subprocess.run(
        [bridges.packages.node, "-e", ON_ONE_JOB, bridges.environment["REDIS_URL"], INGEST, job_id, method]
        + [str(word) for word in words],
        cwd=bridges.packages.project(version),
        timeout=60,
        check=True,
    )


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


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_job_with_an_impossible_timestamp_is_not_lost(
    database: Database, hands: Hands, bridges: Bridges, version: Version
) -> None:
    """It is taken without its time, or refused if nothing tells it from an earlier job with its id."""
    unkept: dict[str, Any] = {"attempts": 1, "removeOnFail": True}
    hands.add(
        INGEST,
        job(1, timestamp=IN_NANOSECONDS, **unkept),
        job(3, timestamp="2026-11-19T21:00:00Z", jobId="dated", **unkept),
        version=version,
    )
    fields = ["name", "ingest", "data", json.dumps(job(2)["data"]), "opts", '{"removeOnFail":true}']
    hands.ask("raw", command=["HSET", f"bull:{INGEST}:timeless", *fields])
    hands.ask("raw", command=["LPUSH", f"bull:{INGEST}:wait", "timeless"])
    async with moved(database) as there:
        bridge = bridges.start(version=version)
        await eventually(lambda: hands.counts(INGEST) == {"failed": 2})
        (task,) = await there.tasks()
        assert task["payload"]["n"] == 1
        assert "added_at" not in task["payload"]["bullmq"]
        failed = hands.failed(INGEST)
        assert {each["id"] for each in failed} == {"dated", "timeless"}
        assert all("has no timestamp in milliseconds" in each["reason"] for each in failed)
        bridges.stop(bridge)


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_job_whose_children_redis_cannot_count_yet_is_not_lost(
    database: Database, hands: Hands, bridges: Bridges, version: Version
) -> None:
    """As while Redis loads its data, or a script keeps it busy."""
    hands.add(INGEST, job(1, attempts=1, removeOnFail=True))
    counting = ("hlen", "scard")
    hands.ask("raw", command=["ACL", "LOG", "RESET"])
    hands.ask("raw", command=["ACL", "SETUSER", "default", *(f"-{command}" for command in counting)])
    try:
        async with moved(database) as there:
            bridge = bridges.start(version=version)

            await eventually(lambda: bool(hands.ask("raw", command=["ACL", "LOG"])))
            assert hands.counts(INGEST) == {"active": 1}
            hands.ask("raw", command=["ACL", "SETUSER", "default", *(f"+{command}" for command in counting)])
            await eventually(lambda: there.numbers_are(1))
            await eventually(lambda: not hands.counts(INGEST))
            said = bridges.stop(bridge)
            assert any(line["event"] == "read_failed" for line in said)
    finally:
        hands.ask("raw", command=["ACL", "SETUSER", "default", "+@all"])


async def test_more_attempts_than_penstock_has_are_as_many_as_it_has(
    database: Database, hands: Hands, bridges: Bridges
) -> None:
    hands.add(INGEST, job(1, attempts=1_000), job(2, attempts=1_001), job(3, attempts=NEVER))
    async with moved(database) as there:
        bridge = bridges.start()
        await eventually(lambda: there.numbers_are(1, 2, 3))
        assert [task["max_attempts"] for task in await there.tasks()] == [1_000] * 3
        bridges.stop(bridge)


async def test_a_batch_that_takes_postgres_too_long_is_written_in_halves(
    database: Database, hands: Hands, bridges: Bridges
) -> None:
    # The server gives up too what it has not answered in time, so that a batch too large is never written.
    bridges.environment["PENSTOCK_DATABASE_URL"] += (
        "&query_timeout=600&options=-c%20client_connection_check_interval%3D50"
    )
    hands.add(INGEST, *(job(n) for n in range(8)))
    async with moved(database) as there:
        await there.admin.execute(SLOW_ROWS)
        bridge = bridges.start()
        await eventually(lambda: there.numbers_are(*range(8)), within=30)
        await eventually(lambda: not hands.counts(INGEST))
        said = bridges.stop(bridge)
        assert any("read timeout" in line.get("error", "") for line in said)


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


async def test_delayed_jobs_can_be_taken_at_once_with_their_time(
    database: Database, hands: Hands, bridges: Bridges
) -> None:
    hands.add(INGEST, *(job(n, delay=3_600_000) for n in range(3)), job(3, "unheard", delay=3_600_000))
    queues = {INGEST: {**bridges.config["queues"][INGEST], "delayed": "take"}}
    async with moved(database) as there:
        bridge = bridges.start(queues=queues)
        await eventually(lambda: there.numbers_are(0, 1, 2))
        for task in await there.tasks():
            assert timedelta(minutes=55) < task["scheduled_at"] - datetime.now(UTC) < timedelta(hours=1)
        await eventually(lambda: hands.counts(INGEST) == {"delayed": 1})
        bridges.stop(bridge)


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_promoted_job_runs_at_once_and_a_postponed_one_at_its_new_time(
    database: Database, hands: Hands, bridges: Bridges, version: Version
) -> None:
    an_hour_ago = int((datetime.now(UTC) - timedelta(hours=1)).timestamp() * 1000)
    hands.add(
        INGEST,
        job(1, jobId="promoted", delay=3_600_000),
        job(2, jobId="sooner", delay=3_600_000),
        job(3, jobId="later", delay=7_200_000, timestamp=an_hour_ago),
        version=version,
    )
    ask_job(bridges, version, "promoted", "promote")
    ask_job(bridges, version, "sooner", "changeDelay", 600_000)
    ask_job(bridges, version, "later", "changeDelay", 5_400_000)
    queues = {INGEST: {**bridges.config["queues"][INGEST], "delayed": "take"}}
    async with moved(database) as there:
        bridge = bridges.start(version=version, queues=queues)
        await eventually(lambda: there.numbers_are(1, 2, 3))
        times = {task["payload"]["n"]: task["scheduled_at"] for task in await there.tasks()}
        now = datetime.now(UTC)
        assert times[1] is None or times[1] <= now
        assert timedelta(minutes=9) < times[2] - now <= timedelta(minutes=10)
        assert timedelta(minutes=89) < times[3] - now <= timedelta(minutes=90)
        bridges.stop(bridge)


async def test_a_job_that_became_due_in_redis_is_not_delayed_again(
    database: Database, hands: Hands, bridges: Bridges
) -> None:
    """Its options still name the delay it was added with."""
    hands.add(INGEST, job(1, jobId="promoted", delay=3_600_000))
    ask_job(bridges, 6, "promoted", "promote")
    async with moved(database) as there:
        bridge = bridges.start()
        await eventually(lambda: there.numbers_are(1))
        (task,) = await there.tasks()
        assert task["scheduled_at"] is None or task["scheduled_at"] <= datetime.now(UTC)
        bridges.stop(bridge)


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_delayed_job_that_cannot_be_taken_stays_in_redis_and_stops_no_start(
    database: Database, hands: Hands, bridges: Bridges, version: Version
) -> None:
    hands.add(
        INGEST,
        job(1, delay=3_600_000),
        job(2, delay=NEVER),
        job(3, delay=3_600_000, timestamp=IN_NANOSECONDS),
        job(4, delay=3_600_000),
        version=version,
    )
    queues = {INGEST: {**bridges.config["queues"][INGEST], "delayed": "take"}}
    async with moved(database) as there:
        bridge = bridges.start(version=version, queues=queues)
        await eventually(lambda: there.numbers_are(1, 4))
        await eventually(lambda: hands.counts(INGEST) == {"delayed": 2})
        hands.add(INGEST, job(5))
        await eventually(lambda: there.numbers_are(1, 4, 5))
        said = bridges.stop(bridge)
        assert [line["job"] for line in said if line["event"] == "delayed_kept"] == ["2", "3"]
        assert [line["kept"] for line in said if line["event"] == "delayed_taken"] == [2]


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_delayed_job_that_bullmq_itself_cannot_read_stops_no_start(
    database: Database, hands: Hands, bridges: Bridges, version: Version
) -> None:
    hands.ask("raw", command=["HSET", f"bull:{INGEST}:broken", "name", "ingest", "data", "{", "opts", "{}"])
    hands.ask("raw", command=["ZADD", f"bull:{INGEST}:delayed", "1e16", "broken"])
    hands.add(INGEST, *(job(n, delay=n * 3_600_000) for n in (1, 2)), version=version)
    queues = {INGEST: {**bridges.config["queues"][INGEST], "delayed": "take"}}
    async with moved(database) as there:
        bridge = bridges.start(version=version, queues=queues)
        await eventually(lambda: there.numbers_are(1, 2))
        await eventually(lambda: hands.counts(INGEST) == {"delayed": 1})
        said = bridges.stop(bridge)
        assert [line["kept"] for line in said if line["event"] == "delayed_taken"] == [1]


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
