"""Stopping in order: finish within the grace or hand back uncharged, and leave nothing behind."""

from __future__ import annotations

import asyncio
import signal
import threading
import time

import pytest

from penstock import Context, Table
from tests.chaos import hands
from tests.plugins.busy import stretched
from tests.plugins.workers import Books, Crew, Mill, ended, eventually, working


async def uncharged(books: Books, task: int) -> bool:
    row = await books.admin.fetchrow("select failures, losses from queues.ready where task_id = $1", task)
    return row is not None and (row["failures"], row["losses"]) == (0, 0)


async def test_prefetched_tasks_are_handed_back_without_charging_an_attempt(mill: Mill) -> None:
    app = mill.app(prefetch_seconds=5)
    release = asyncio.Event()
    runs = 0

    @app.task()
    async def step(payload: dict[str, int]) -> None:
        nonlocal runs
        runs += 1
        # Fast until it has read ahead; then all slots wait, with leases in the buffer.
        if not release.is_set() and worker._slots["default"].outstanding > 100:
            await release.wait()

    async with mill.open(app) as books:
        await step.enqueue_many([{"n": n} for n in range(20_000)])
        async with working(app, concurrency=4) as worker:
            await eventually(lambda: worker._slots["default"].busy == 4)
            prefetched = worker._slots["default"].outstanding - 4
            stopping = asyncio.create_task(worker.stop(grace=20))
            await eventually(lambda: books.count("queues.attempt", "outcome = 'released'"))
            release.set()
            await stopping
        assert await books.count("queues.attempt", "outcome = 'released'") >= prefetched > 50
        assert await books.count("queues.lease") == 0
        assert await books.count("queues.ready", "failures <> 0 or losses <> 0") == 0
        assert await books.completed() == runs
        assert await books.completed() + await books.count("queues.ready") == 20_000
        assert await books.count("queues.error") == 0


async def test_a_handler_past_the_grace_is_cancelled_and_its_task_goes_back_uncharged(mill: Mill) -> None:
    app = mill.app()
    started, ended_by = asyncio.Event(), []

    @app.task()
    async def endless(payload: dict[str, int]) -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError as error:
            ended_by.append(error)
            raise

    async with mill.open(app) as books:
        async with working(app, grace=0.1):
            task = await endless.enqueue({})
            await eventually(started.is_set)
        assert len(ended_by) == 1
        assert await uncharged(books, task)
        assert await books.outcomes(task) == ["released"]


async def test_a_handler_that_turns_its_cancellation_into_an_error_is_not_charged_for_it(mill: Mill) -> None:
    app = mill.app()
    started = asyncio.Event()

    @app.task(retry=Table((0,)))
    async def touchy(payload: dict[str, int]) -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            raise OSError("the upload was interrupted") from None

    async with mill.open(app) as books:
        async with working(app, grace=0.1):
            task = await touchy.enqueue({})
            await eventually(started.is_set)
        assert await uncharged(books, task)
        assert await books.count("queues.error") == 0


async def test_a_handler_that_does_not_stop_does_not_delay_the_shutdown(mill: Mill) -> None:
    app = mill.app()
    started, go = asyncio.Event(), asyncio.Event()

    @app.task()
    async def deaf(payload: dict[str, int]) -> None:
        started.set()
        while not go.is_set():
            try:
                await go.wait()
            except asyncio.CancelledError:
                continue

    async with mill.open(app) as books:
        worker = app.worker()
        await worker.start()
        task = await deaf.enqueue({})
        await eventually(started.is_set)
        await asyncio.wait_for(worker.stop(grace=0.1), 10)
        assert await uncharged(books, task)
        go.set()


async def test_stopping_twice_or_before_it_started_is_harmless(mill: Mill) -> None:
    app = mill.app()
    async with mill.open(app) as books:
        never = app.worker(["default"])
        await never.stop()
        worker = app.worker(["default"])
        await worker.start()
        await asyncio.gather(worker.stop(), worker.stop())
        await worker.stop()
        assert await books.count("queues.worker", "worker_id > 0 and stopped_at is null") == 0


async def test_a_wake_up_in_the_moment_of_the_stop_does_not_hang_it(mill: Mill) -> None:
    """asyncio.wait_for once swallowed the cancellation in this window, and the worker worked on for ever."""
    app = mill.app()
    async with mill.open(app) as books:
        for ticks in range(8):
            worker = app.worker(["default"])
            await worker.start()
            await eventually(lambda: books.count("queues.idle"), what="the worker is idle")
            worker._claimers["default"].wake()
            for _ in range(ticks):
                await asyncio.sleep(0)
            await asyncio.wait_for(worker.stop(), 10)


async def test_a_worker_declared_lost_while_stopping_leaves_no_registration(mill: Mill) -> None:
    app = mill.app(beat_seconds=0.1)
    async with mill.open(app) as books:
        for _ in range(10):
            worker = app.worker(["default"])
            await worker.start()
            assert worker.registration is not None
            await books.admin.execute(
                "update queues.worker set lost_at = now() where worker_id = $1", worker.registration.worker_id
            )
            await worker.stop()
        assert (
            await books.count("queues.worker", "worker_id > 0 and stopped_at is null and lost_at is null")
            == 0
        )
        assert not [thread for thread in threading.enumerate() if thread.name == "penstock-heartbeat"]


async def test_twenty_starts_and_stops_leak_no_task_thread_or_connection(mill: Mill) -> None:
    app = mill.app()

    @app.task()
    async def note(payload: dict[str, int], ctx: Context) -> None:
        async with ctx.transaction():
            pass

    async with mill.open(app) as books:

        async def cycle() -> None:
            async with working(app):
                await books.becomes(await note.enqueue({}), "completed")

        await cycle()
        tasks, threads = len(asyncio.all_tasks()), threading.active_count()
        connections = await books.connections()
        for _ in range(20):
            await cycle()

        async def level() -> bool:
            return (await books.connections()) == connections

        await eventually(level)
        assert len(asyncio.all_tasks()) == tasks
        assert threading.active_count() <= threads + 2  # asyncio's own pool for blocking calls
        assert not [thread for thread in threading.enumerate() if thread.name == "penstock-heartbeat"]
        assert await books.count("queues.worker", "worker_id > 0 and stopped_at is null") == 0
        assert await books.count("queues.idle") == 0


async def _at_work(books: Books, count: int = 1) -> None:
    async def begun() -> bool:
        return await books.count("public.effect", "note = 'started'") >= count

    await eventually(begun, what="the worker process runs the task")


async def test_sigterm_lets_a_handler_finish_within_the_grace(mill: Mill, crew: Crew) -> None:
    async with mill.open(mill.app()) as books:
        member = crew.spawn()
        task = await _enqueue(books, "started", seconds=1.0)
        await _at_work(books)
        member.send_signal(signal.SIGTERM)
        assert await ended(member) == 0, crew.log_of(member)
        assert await books.outcomes(task) == ["completed"]
        assert await books.count("queues.worker", "worker_id > 0 and stopped_at is null") == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_hands_back_uncharged_what_does_not_finish_within_the_grace(
    mill: Mill, crew: Crew, number: signal.Signals
) -> None:
    async with mill.open(mill.app()) as books:
        member = crew.spawn(grace_seconds=0.3)
        task = await _enqueue(books, "started", seconds=3_600)
        await _at_work(books)
        signalled = time.monotonic()
        member.send_signal(number)
        assert await ended(member) == 0, crew.log_of(member)
        assert time.monotonic() - signalled < stretched(3.3)
        assert await uncharged(books, task)
        assert await books.outcomes(task) == ["released"]


async def test_a_second_sigterm_hurries(mill: Mill, crew: Crew) -> None:
    async with mill.open(mill.app()) as books:
        member = crew.spawn(grace_seconds=600)
        task = await _enqueue(books, "started", seconds=3_600)
        await _at_work(books)
        member.send_signal(signal.SIGTERM)
        # It has stopped to claim: what is enqueued now stays where it is.
        await eventually(lambda: _ignored(books), what="it claims no more")
        assert member.poll() is None
        member.send_signal(signal.SIGTERM)
        assert await ended(member, within=10) == 0, crew.log_of(member)
        assert await uncharged(books, task)


async def _ignored(books: Books) -> bool:
    task = await _enqueue(books, "plain")
    for _ in range(20):
        if await books.state(task) != "ready":
            return False
        await asyncio.sleep(0.02)
    return True


async def _enqueue(books: Books, task_type: str, seconds: float = 0) -> int:
    async def known() -> bool:
        return await books.count("queues.task_type", f"task_type = '{task_type}'") == 1

    assert task_type in hands.app.registry.types
    await eventually(known, what="the worker process has declared its types")
    task: int = await books.value(
        "select queues.enqueue($1, jsonb_build_object('n', 1, 'seconds', $2::float8))", task_type, seconds
    )
    return task
