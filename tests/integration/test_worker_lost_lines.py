"""Connections that break under a worker: no lease is stuck, and nothing runs twice."""

from __future__ import annotations

import asyncio

import pytest

from penstock import Context
from penstock.db import Connection
from tests.plugins.workers import Mill, eventually, working


async def test_claims_whose_answer_was_lost_leave_no_stuck_lease(mill: Mill) -> None:
    count = 3_000
    app = mill.app(poll_interval=1, prefetch_seconds=0.05)
    ran: dict[int, int] = {}

    @app.task()
    async def note(payload: dict[str, int]) -> None:
        ran[payload["n"]] = ran.get(payload["n"], 0) + 1
        await asyncio.sleep(0.001)

    async with mill.open(app) as books:
        await note.enqueue_many([{"n": n} for n in range(count)])
        async with working(app, concurrency=10) as worker:
            for cut in range(6):
                await eventually(lambda: len(ran) > cut * 300 + 50, every=0.001)  # noqa: B023  # now
                await books.terminate("penstock claims")
            # An answer that was surely lost: leases in the worker's name that it has never heard of.
            assert worker.registration is not None
            await note.enqueue_many([{"n": count + n} for n in range(5)], queue="default", priority=0)
            async with mill.database.connect("runtime") as ghost:
                await ghost.fetch(
                    "select * from queues.claim($1, 'default', 5)", worker.registration.worker_id
                )
            await books.drained(count + 5, within=40)
        assert set(ran.values()) == {1}
        assert await books.count("queues.error") == 0
        assert await books.count("queues.attempt", "outcome = 'lost'") == 0


@pytest.mark.parametrize(
    "line", ["penstock closes", "penstock heartbeat", "penstock duties", "penstock handlers"]
)
async def test_any_connection_may_break_at_any_time(mill: Mill, line: str) -> None:
    count = 1_000
    app = mill.app(poll_interval=1)

    @app.task()
    async def note(payload: dict[str, int], ctx: Context) -> None:
        if payload["n"] % 2:
            await asyncio.sleep(0.002)
        else:
            async with ctx.transaction() as connection:
                await connection.execute("insert into public.effect (n) values ($1)", payload["n"])

    async with mill.open(app) as books:
        await note.enqueue_many([{"n": n} for n in range(count)])
        async with working(app, concurrency=20):
            for cut in range(5):
                await eventually(lambda: _past(books.admin, cut * 150), every=0.005)  # noqa: B023  # now
                await books.terminate(line)
            await books.drained(count, within=40)
        assert await books.count("public.effect") == count // 2
        assert await books.value("select count(distinct n) from public.effect") == count // 2


async def _past(admin: Connection, count: int) -> bool:
    done: bool = await admin.fetchval(
        "select count(*) > $1 from queues.attempt where outcome = 'completed'", count
    )
    return done


async def test_a_failed_heartbeat_does_not_stop_the_following_ones(mill: Mill) -> None:
    app = mill.app(lease_seconds=5, beat_seconds=0.2)

    @app.task()
    async def note(payload: dict[str, int]) -> None:
        pass

    async with mill.open(app) as books, working(app) as worker:
        assert worker.registration is not None
        worker_id = worker.registration.worker_id
        async with books.admin.transaction():
            await books.admin.execute(
                "select * from queues.worker where worker_id = $1 for update", worker_id
            )

            async def cancelled() -> bool:
                async with mill.database.connect("admin") as admin:
                    return bool(
                        await admin.fetchval(
                            "select count(pg_cancel_backend(pid)) from pg_stat_activity"
                            " where state = 'active' and application_name = 'penstock heartbeat'"
                            " and datname = current_database()"
                        )
                    )

            await eventually(cancelled, what="a beat waits and is cancelled")
        beat = await books.value("select beat_at from queues.worker where worker_id = $1", worker_id)

        async def beats() -> bool:
            now = await books.value("select beat_at from queues.worker where worker_id = $1", worker_id)
            return bool(now > beat)

        await eventually(beats, within=20, what="it beats again")
        await books.becomes(await note.enqueue({}), "completed")


async def test_a_blocked_event_loop_costs_no_lease(mill: Mill) -> None:
    app = mill.app(lease_seconds=1.5, beat_seconds=0.3)

    @app.task()
    async def rude(payload: dict[str, int]) -> None:
        import time

        time.sleep(3)  # noqa: ASYNC251  # the point of the test

    async with mill.open(app) as books:
        task = await rude.enqueue({})
        async with working(app), working(app):
            await books.becomes(task, "completed", within=20)
        assert await books.outcomes(task) == ["completed"]
