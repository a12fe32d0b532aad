"""The pgmq inlet beside the native loop in one process: nothing lost or doubled by kills or a shutdown."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from penstock.db import Connection
from penstock.settings import Settings
from tests.integration.moving import moving
from tests.plugins.database import Database
from tests.plugins.pgmq import add_queue, send
from tests.plugins.workers import EFFECT, Books, Crew, ended, eventually

MESSAGES = 300


def messages(first: int, count: int) -> list[str]:
    return [json.dumps({"n": n}) for n in range(first, first + count)]


async def moved(books: Books) -> tuple[int, int]:
    """Tasks, and how many different messages they were made of."""
    row = await books.admin.fetchrow("select count(*), count(distinct payload ->> 'n') from queues.task")
    assert row is not None
    return row[0], row[1]


def around(database: Database, folder: Path, **more: Any) -> dict[str, Any]:
    return {"database_url": database.runtime_url, "data_dir": folder, "lease_seconds": 3, **more}


@pytest.mark.timeout(120)
@pytest.mark.parametrize("point", ["inlet.received", "inlet.committed"])
async def test_a_mover_killed_at_any_point_loses_and_doubles_nothing(
    database: Database, tmp_path: Path, crew: Crew, point: str
) -> None:
    await add_queue(database)
    async with database.connect("admin") as admin:
        books = Books(admin)
        await admin.execute("select queues.put_task_type('job')")
        await send(admin, *messages(0, MESSAGES))
        for _ in range(2):
            first = crew.spawn(
                "penstock", "inlet", "orders", **around(database, tmp_path, fault=f"{point}@2")
            )
            await send(admin, *messages(await total(books), 150))
            assert await ended(first, within=40) == -signal.SIGKILL
        last = crew.spawn("penstock", "inlet", "orders", **around(database, tmp_path))
        sent = await total(books)

        async def everything() -> bool:
            return (await moved(books))[1] == sent

        await eventually(everything, within=40)
        await eventually(lambda: "inlet_started" in crew.log_of(last), within=40)
        last.send_signal(signal.SIGTERM)
        assert await ended(last) == 0
        assert await moved(books) == (sent, sent)
        assert await books.count("pgmq.a_orders") == sent
        assert await books.count("pgmq.q_orders") == 0
        await books.assert_sound()


@pytest.mark.timeout(120)
async def test_a_message_that_postgres_rejects_goes_to_the_archive_and_the_others_become_tasks(
    database: Database,
) -> None:
    await add_queue(database)
    async with database.connect("admin") as admin:
        await admin.execute("select queues.put_task_type('job')")
        await admin.execute(
            "alter table queues.task add constraint not_thirteen check (payload ->> 'n' <> '13')"
        )
        await send(admin, *messages(13, 20))
        async with moving(Settings(database_url=database.runtime_url), "orders"):
            await eventually(lambda: _counted(admin, taken=19, refused=1), within=60)
        refused = await admin.fetchval("select reason from queues.inlet_refusal")
        assert refused.startswith("Postgres rejected it (23514)")


async def _counted(admin: Connection, *, taken: int, refused: int) -> bool:
    row = await admin.fetchrow("select sum(taken) as taken, sum(refused) as refused from queues.inlet_count")
    return row is not None and (row["taken"], row["refused"]) == (taken, refused)


@pytest.mark.timeout(120)
async def test_one_shutdown_ends_the_native_loop_and_the_inlet_and_loses_nothing(
    database: Database, crew: Crew
) -> None:
    await add_queue(database, config='{"queue": "orders", "task_type": "effect"}')
    async with database.connect("admin") as admin:
        books = Books(admin)
        await admin.execute(EFFECT)
        await admin.execute("select queues.put_task_type('effect')")
        await send(admin, *messages(0, MESSAGES))
        first = crew.spawn()

        async def both() -> bool:
            return await books.completed() > 10

        await eventually(both, within=40, what="messages are moved and their tasks run")
        await send(admin, *messages(MESSAGES, MESSAGES))
        first.send_signal(signal.SIGTERM)
        assert await ended(first, within=30) == 0
        log = crew.log_of(first)
        assert "inlet_ended" in log
        assert "worker_stopped" in log
        assert await books.count("queues.lease") == 0
        assert await books.count("queues.inlet_hold") == 0, "the next process takes over at once"
        before = await books.count("queues.task")
        assert before + await books.count("pgmq.q_orders") == 2 * MESSAGES
        crew.spawn()
        await books.drained(2 * MESSAGES, within=60)
        assert await books.count("public.effect") == 2 * MESSAGES
        assert await moved(books) == (2 * MESSAGES, 2 * MESSAGES)
        crew.dismiss()


@pytest.mark.timeout(120)
async def test_another_worker_takes_an_inlet_over_when_its_holder_is_killed(
    database: Database, crew: Crew
) -> None:
    await add_queue(database, config='{"queue": "orders", "task_type": "plain"}')
    async with database.connect("admin") as admin:
        books = Books(admin)
        await admin.execute("select queues.put_task_type('plain')")
        holder = crew.spawn()
        await eventually(lambda: "inlet_started" in crew.log_of(holder), within=40)
        other = crew.spawn()
        await eventually(lambda: "worker_started" in crew.log_of(other), within=40)
        crew.kill(holder)
        await send(admin, *messages(0, 50))
        await books.drained(50, within=60)
        assert "inlet_started" in crew.log_of(other)
        crew.dismiss()


async def total(books: Books) -> int:
    return await books.count("pgmq.q_orders") + await books.count("pgmq.a_orders")
