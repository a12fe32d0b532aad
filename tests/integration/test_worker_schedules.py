"""A schedule's tick enqueues one task, however many workers look at the clock."""

from __future__ import annotations

import asyncio

from tests.plugins.workers import Mill, eventually, working
from tests.sql.clock import Clock


async def test_a_tick_fires_once_with_three_workers(mill: Mill) -> None:
    app = mill.app()
    ran: list[int] = []

    @app.task()
    async def report(payload: dict[str, int]) -> None:
        ran.append(payload["n"])

    app.schedule("* * * * *", report, {"n": 9}, name="each minute")
    async with mill.open(app) as books, working(app), working(app), working(app) as third:
        for round_number in range(1, 4):
            await books.admin.execute("update queues.schedule set next_at = now() - interval '1 second'")
            await eventually(lambda: len(ran) >= round_number, what="the tick has run")  # noqa: B023  # now
            for duty in third._duties:
                if duty.name == "schedules":
                    await duty.run_once()
        fired = await books.value("select count(*) from queues.task where task_type = 'report'")
        ticks = await books.value(
            "select count(*) from queues.schedule"
            " where next_at > now() and next_at <= now() + interval '1 minute'"
        )
        assert ticks == 1
        assert len(ran) == fired
        assert 3 <= fired <= 4  # a fourth when a real minute ended meanwhile


async def test_all_workers_racing_for_one_tick_enqueue_one_task(mill: Mill) -> None:
    app = mill.app()

    @app.task()
    async def report(payload: dict[str, int]) -> None:
        pass

    app.schedule("0 0 1 1 *", report, {"n": 1})
    async with mill.open(app) as books, working(app), working(app), working(app):
        for tick in range(1, 11):
            await books.admin.execute("update queues.schedule set next_at = now() - interval '1 second'")
            await books.drained(tick)
        assert await books.count("queues.task") == 10


async def test_declaring_a_schedule_again_keeps_its_tick(mill: Mill) -> None:
    app = mill.app()

    @app.task()
    async def report(payload: dict[str, int]) -> None:
        pass

    app.schedule("0 0 1 1 *", report, name="yearly")
    async with mill.open(app) as books:
        async with working(app):
            pass
        await books.admin.execute("update queues.schedule set next_at = '2100-06-01'")
        async with working(app):
            assert str(await books.value("select next_at::date from queues.schedule")) == "2100-06-01"
        assert await books.count("queues.task") == 0


async def test_the_first_tick_comes_after_the_databases_time(mill: Mill) -> None:
    """The clock of the database decides, which may be ahead of the server's."""
    app = mill.app()

    @app.task()
    async def report(payload: dict[str, int]) -> None:
        pass

    app.schedule("0 0 1 1 *", report, name="yearly")
    async with mill.open(app) as books:
        clock = await Clock.install(books.admin)
        now = await clock.advance(days=3 * 366)
        async with working(app):
            first = await books.value("select next_at from queues.schedule")
    assert first.year == now.year + 1


async def test_a_missed_tick_is_not_made_up_for_many_times(mill: Mill) -> None:
    app = mill.app()
    ran = asyncio.Event()

    @app.task()
    async def report(payload: dict[str, int]) -> None:
        ran.set()

    app.schedule("0 * * * *", report)
    async with mill.open(app) as books:
        async with working(app):
            pass
        await books.admin.execute("update queues.schedule set next_at = now() - interval '3 days'")
        async with working(app):
            await eventually(ran.is_set)
            await books.drained(1)
        assert await books.count("queues.task") == 1
        assert await books.value("select next_at > now() from queues.schedule")
