"""Jobs that are delayed, promoted or odd: the bridge loses none, and none stops it."""

from __future__ import annotations

import json
import subprocess
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.integration.bullmq_inlets import moved
from tests.plugins.bullmq import VERSIONS, Bridges, Hands, Version
from tests.plugins.bullmq_bridges import INGEST, job
from tests.plugins.database import Database
from tests.plugins.workers import eventually

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


def ask_job(bridges: Bridges, version: Version, job_id: str, method: str, *words: int) -> None:
    """Call a method of BullMQ's Job, as a team's own scripts do."""
    subprocess.run(
        [bridges.packages.node, "-e", ON_ONE_JOB, bridges.environment["REDIS_URL"], INGEST, job_id, method]
        + [str(word) for word in words],
        cwd=bridges.packages.project(version),
        timeout=60,
        check=True,
    )


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
