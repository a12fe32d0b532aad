"""queues.take_from_bullmq moves jobs that npm's BullMQ 6 keeps in Postgres, in one transaction."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
import pytest

from penstock.db import Connection
from penstock.db.logins import OPERATOR
from tests.integration.bullmq_inlets import Moved, moved, node_url
from tests.plugins.bullmq import Hands, NodePackages, hands_on
from tests.plugins.database import Database

INGEST = "ingest-document"
SCHEMA = "TeamJobs"  # has to be quoted
RIGHTS = f"""
grant usage on schema "{SCHEMA}" to {OPERATOR};
grant select, insert, update, delete on all tables in schema "{SCHEMA}" to {OPERATOR};
grant usage on all sequences in schema "{SCHEMA}" to {OPERATOR};
"""


@asynccontextmanager
async def on_postgres(database: Database, packages: NodePackages) -> AsyncIterator[tuple[Moved, Hands]]:
    """A producer, and the rights that the guide tells to grant."""
    async with moved(database) as there:
        with hands_on(None, packages) as team:
            team.ask("postgres", url=node_url(database, admin=True), schema=SCHEMA)
            await there.admin.execute(RIGHTS)
            await there.admin.execute("select queues.put_inlet($1, 'bullmq', 'bullmq:here')", INGEST)
            yield there, team


def job(n: int, name: str = "ingest", **opts: Any) -> dict[str, Any]:
    return {"name": name, "data": {"n": n, "tenantId": "acme"}, "opts": opts}


async def take(
    connection: Connection, limit: int = 100, schema: str = SCHEMA, queue: str = INGEST
) -> list[tuple[str, str | None]]:
    rows = await connection.fetch(
        "select * from queues.take_from_bullmq("
        "$1, $2, $3, _limit => $4, _schema => $5, _tenant_key => 'tenantId')",
        INGEST,
        queue,
        json.dumps({"ingest": "ingest_document"}),
        limit,
        schema,
    )
    return [(row["outcome"], row["reason"]) for row in rows]


async def test_jobs_on_postgres_arrive_with_their_meaning_and_once(
    database: Database, node_packages: NodePackages
) -> None:
    backoff = {"type": "exponential", "delay": 1000}
    keyed = job(1, jobId="ingest-d1", priority=2, attempts=3, backoff=backoff)
    async with on_postgres(database, node_packages) as (there, team), database.connect("operator") as bridge:
        team.add(INGEST, keyed, job(2), job(3, delay=3_600_000), version="postgres")
        assert await take(bridge) == [("taken", None)] * 2
        assert await take(bridge) == []
        first, second = sorted(await there.tasks(), key=lambda task: int(task["payload"]["n"]))
        assert (first["task_type"], first["priority"], first["max_attempts"]) == ("ingest_document", 2, 3)
        assert (first["on_duplicate"], first["tenant"]) == ("replace", "acme")
        assert first["payload"]["bullmq"]["backoff"] == backoff
        assert (second["priority"], second["max_attempts"], second["on_duplicate"]) == (0, None, None)
        assert team.counts(INGEST, version="postgres") == {"delayed": 1}
        # Added again with the same id: taken again.
        team.add(INGEST, job(4, jobId="ingest-d1"), version="postgres")
        assert await take(bridge) == [("taken", None)]


async def test_a_job_id_belongs_to_its_queue_though_two_lead_to_one_task_type(
    database: Database, node_packages: NodePackages
) -> None:
    async with on_postgres(database, node_packages) as (there, team), database.connect("operator") as bridge:
        team.add(INGEST, job(1, jobId="d1"), version="postgres")
        team.add("urgent", job(2, jobId="d1"), version="postgres")
        assert await take(bridge) == [("taken", None)]
        assert await take(bridge, queue="urgent") == [("taken", None)]
        assert await there.open_numbers() == [1, 2]
        team.add("urgent", job(3, jobId="d1"), version="postgres")
        await take(bridge, queue="urgent")
        assert await there.open_numbers() == [1, 3], "the newest of its own queue counts"


async def test_a_rollback_leaves_all_jobs_and_two_movers_take_each_once(
    database: Database, node_packages: NodePackages
) -> None:
    async with on_postgres(database, node_packages) as (there, team), database.connect("operator") as bridge:
        team.add(INGEST, *(job(n) for n in range(60)), version="postgres")
        transaction = bridge.transaction()
        await transaction.start()
        assert len(await take(bridge)) == 60
        await transaction.rollback()
        assert team.counts(INGEST, version="postgres") == {"wait": 60}
        assert await there.numbers() == []

        async def mover() -> None:
            async with database.connect("operator") as other:
                while await take(other, 10):
                    pass

        await asyncio.gather(mover(), mover())
        assert await there.numbers_are(*range(60))
        assert team.counts(INGEST, version="postgres") == {}


async def test_bad_jobs_on_postgres_fail_there_with_the_reason(
    database: Database, node_packages: NodePackages
) -> None:
    async with on_postgres(database, node_packages) as (there, team), database.connect("operator") as bridge:
        parent = {"queueName": INGEST, **job(2), "children": [{"queueName": INGEST, **job(1)}]}
        team.ask("flow", version="postgres", tree=parent)
        team.ask("every", version="postgres", queue=INGEST, name="ingest", milliseconds=3_600_000)
        team.add(
            INGEST,
            job(3, "unheard"),
            {"name": "ingest", "data": [1]},
            {"name": "ingest", "data": {"tenantId": "another"}},
            {"name": "ingest", "data": {}},
            {"name": "ingest", "data": {"text": "x" * 1_100_000, "tenantId": "acme"}},
            version="postgres",
        )
        await take(bridge)
        await take(bridge)  # the parent comes after its child
        reasons = " ".join(failed["reason"] for failed in team.failed(INGEST, version="postgres"))
        for part in (
            'no task type for jobs named "unheard"',
            'the data of job "ingest" is not an object',
            'has no "tenantId"',
            "its tenant is unknown",
            "is the parent of a flow",
            "declare a schedule in Penstock",
            "bytes exceeds the limit of 1048576",
        ):
            assert part in reasons
        assert await there.numbers() == [1]
        assert await there.counted() == {"taken": 1, "refused": 7}


async def test_a_job_that_postgres_rejects_fails_there_when_it_is_alone_and_holds_up_no_other(
    database: Database, node_packages: NodePackages
) -> None:
    async with on_postgres(database, node_packages) as (there, team), database.connect("operator") as bridge:
        await there.admin.execute(
            "alter table queues.task add constraint not_thirteen check (payload ->> 'n' <> '13')"
        )
        team.add(INGEST, job(13), job(14), version="postgres")
        with pytest.raises(asyncpg.CheckViolationError):
            await take(bridge)
        assert team.counts(INGEST, version="postgres") == {"wait": 2}
        ((outcome, reason),) = await take(bridge, limit=1)
        assert (outcome, str(reason).partition(":")[0]) == ("refused", "Postgres rejected it (23514)")
        assert await take(bridge) == [("taken", None)]
        assert team.failed(INGEST, version="postgres")[0]["reason"] == reason
        assert await there.numbers() == [14]


async def test_a_job_with_a_time_that_does_not_exist_holds_up_no_other(
    database: Database, node_packages: NodePackages
) -> None:
    """Its producer gave nanoseconds, or microseconds, where BullMQ wants milliseconds."""
    nanoseconds, microseconds = 1_763_500_000_000_000_000, 1_763_500_000_000_000
    async with on_postgres(database, node_packages) as (there, team), database.connect("operator") as bridge:
        odd = [job(n, timestamp=at) for n, at in enumerate((nanoseconds, microseconds, -1))]
        team.add(INGEST, *odd, job(3), job(4, timestamp=1_763_500_000_000), version="postgres")
        assert await take(bridge) == [("taken", None)] * 5
        times = {
            each["payload"]["n"]: each["payload"]["bullmq"].get("added_at") for each in await there.tasks()
        }
    assert [times[n] for n in range(3)] == [None] * 3
    assert str(times[3]) > "2026"
    assert str(times[4]).startswith("2025-11-18T")


async def test_odd_numbers_of_attempts_hold_up_no_job(
    database: Database, node_packages: NodePackages
) -> None:
    odd = (1_001, 100_000, -1, 0, 2)
    async with on_postgres(database, node_packages) as (there, team), database.connect("operator") as bridge:
        team.add(INGEST, *(job(n, attempts=each) for n, each in enumerate(odd)), version="postgres")
        assert await take(bridge) == [("taken", None)] * len(odd)
        given = {each["payload"]["n"]: each["max_attempts"] for each in await there.tasks()}
    assert [given[n] for n in range(len(odd))] == [1_000, 1_000, None, None, 2]


async def test_it_says_which_schema_is_not_bullmqs_and_runs_nothing_with_its_owners_rights(
    database: Database,
) -> None:
    async with database.connect("operator") as bridge:
        with pytest.raises(asyncpg.PostgresError, match="schema 'nowhere' is not one of BullMQ 6") as caught:
            await take(bridge, schema="nowhere")
        assert caught.value.sqlstate == "PS005"
        definer = "select prosecdef from pg_catalog.pg_proc where proname = 'take_from_bullmq'"
        assert await bridge.fetchval(definer) is False
