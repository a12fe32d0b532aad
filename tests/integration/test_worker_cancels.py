"""Cancelling a task: one that runs is stopped soon, one that waits never starts."""

from __future__ import annotations

import asyncio

from penstock import Context
from tests.plugins.busy import stretched
from tests.plugins.workers import Mill, eventually, working


async def test_cancelling_a_running_task_stops_its_handler_within_two_seconds(mill: Mill) -> None:
    # The beat alone would take five minutes: it is the NOTIFY that stops it.
    app = mill.app(lease_seconds=900, beat_seconds=300)
    started, stopped = asyncio.Event(), asyncio.Event()

    @app.task()
    async def endless(payload: dict[str, int]) -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    async with mill.open(app) as books, working(app):
        task = await endless.enqueue({})
        await eventually(started.is_set)
        assert await books.value("select queues.cancel_task($1, 'a mistake')", task) == "requested"
        await eventually(stopped.is_set, within=stretched(2))
        await books.becomes(task, "cancelled", within=stretched(2))
        assert await books.count("queues.cancel") == 0
        assert await books.count("queues.error") == 0


async def test_without_a_listener_the_next_beat_stops_it(mill: Mill) -> None:
    app = mill.app(beat_seconds=0.3)
    started = asyncio.Event()

    @app.task()
    async def endless(payload: dict[str, int]) -> None:
        started.set()
        await asyncio.Event().wait()

    async with mill.open(app) as books, working(app) as worker:
        assert worker._listener is not None
        await worker._listener.stop()
        task = await endless.enqueue({})
        await eventually(started.is_set)
        await books.value("select queues.cancel_task($1)", task)
        await books.becomes(task, "cancelled", within=20)


async def test_a_cancelled_handler_may_clean_up_for_longer_than_a_heartbeat_interval(mill: Mill) -> None:
    app = mill.app(beat_seconds=0.1)
    started, interrupted = asyncio.Event(), []
    cleaned = asyncio.Event()

    @app.task()
    async def careful(payload: dict[str, int]) -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            try:
                await asyncio.sleep(0.5)
                cleaned.set()
            except asyncio.CancelledError as error:
                interrupted.append(error)

    async with mill.open(app) as books, working(app):
        task = await careful.enqueue({})
        await eventually(started.is_set)
        await books.value("select queues.cancel_task($1)", task)
        await books.becomes(task, "cancelled")
        assert cleaned.is_set()
        assert interrupted == []


async def test_a_task_that_closed_itself_in_the_same_moment_stays_completed(mill: Mill) -> None:
    app = mill.app()
    runs: list[str] = []

    @app.task()
    async def stubborn(payload: dict[str, int], ctx: Context) -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            runs.append("finished anyway")

    async with mill.open(app) as books, working(app, concurrency=1):
        task = await stubborn.enqueue({})
        await books.becomes(task, "running")
        await books.value("select queues.cancel_task($1)", task)
        await books.becomes(task, "completed")
        assert runs == ["finished anyway"]
        # The slot is as good as new.
        again = await stubborn.enqueue({})
        await books.becomes(again, "running")
        await books.value("select queues.cancel_task($1)", again)
        await books.becomes(again, "completed")


async def test_a_waiting_task_that_is_cancelled_never_runs(mill: Mill) -> None:
    app = mill.app()
    ran: list[int] = []

    @app.task()
    async def note(payload: dict[str, int]) -> None:
        ran.append(payload["n"])

    async with mill.open(app) as books, working(app):
        task = await note.enqueue({"n": 1}, delay=0.5)
        assert await books.value("select queues.cancel_task($1)", task) == "cancelled"
        await books.becomes(await note.enqueue({"n": 2}, delay=0.6), "completed")
        assert ran == [2]
        assert await books.state(task) == "cancelled"
