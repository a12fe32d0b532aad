"""Cron schedules: each tick is one task, however many workers fire it."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import asyncpg
import pytest

from penstock.db import Connection, Record
from tests.plugins.database import Database
from tests.sql.queue_calls import Calls, calls, rows, sessions, value

HOUR = timedelta(hours=1)


async def put(queue: Calls, cron: str = "0 * * * *", **named: object) -> None:
    arguments = {
        "schedule_name": "hourly",
        "cron": cron,
        "timezone": "UTC",
        "next_at": queue.clock.now + HOUR,
        "task_type": "job",
        **named,
    }
    await rows(queue.runtime, "put_schedule", **arguments)


async def schedule(queue: Calls) -> Record:
    (row,) = await rows(queue.runtime, "schedules")
    return row


async def test_ten_workers_firing_at_once_enqueue_one_task_per_tick(database: Database) -> None:
    async with calls(database) as queue, sessions(database, 10) as opened:
        await put(queue, payload={"n": 1}, priority=2)
        tasks = []
        for _ in range(5):
            assert await rows(queue.runtime, "due_schedules") == []
            await queue.clock.advance(minutes=60)
            (due,) = await rows(queue.runtime, "due_schedules")
            tick = due["next_at"]

            async def fire(session: Connection, tick: object = tick) -> int | None:
                fired: int | None = await value(
                    session, "fire_schedule", "hourly", tick, queue.clock.now + HOUR
                )
                return fired

            fired = await asyncio.gather(*(fire(session) for session in opened))
            tasks += [task for task in fired if task is not None]
            assert (await schedule(queue))["last_at"] == tick
        assert len(tasks) == 5
        assert await queue.count("task") == 5
        assert (await schedule(queue))["last_task_id"] == tasks[-1]
        assert (await queue.shown(tasks[0]))["payload"] == {"n": 1}
        assert (await queue.shown(tasks[0]))["priority"] == 2


async def test_a_tick_that_was_fired_is_not_fired_again(database: Database) -> None:
    async with calls(database) as queue:
        await put(queue)
        tick = queue.clock.now + HOUR
        assert await value(queue.runtime, "fire_schedule", "hourly", tick, tick + HOUR) is not None
        assert await value(queue.runtime, "fire_schedule", "hourly", tick, tick + HOUR) is None
        assert await value(queue.runtime, "fire_schedule", "no such", tick, tick + HOUR) is None
        assert await queue.count("task") == 1


async def test_a_tick_whose_firing_rolled_back_is_fired_by_another(database: Database) -> None:
    async with calls(database) as queue, sessions(database, 1) as (other,):
        await put(queue)
        tick = queue.clock.now + HOUR
        transaction = other.transaction()
        await transaction.start()
        assert await value(other, "fire_schedule", "hourly", tick, tick + HOUR) is not None
        assert (
            await asyncio.wait_for(value(queue.runtime, "fire_schedule", "hourly", tick, tick + HOUR), 10)
            is None
        )
        await transaction.rollback()
        assert await value(queue.runtime, "fire_schedule", "hourly", tick, tick + HOUR) is not None
        assert await queue.count("task") == 1


async def test_declaring_a_schedule_again_keeps_its_tick(database: Database) -> None:
    async with calls(database) as queue:
        await put(queue)
        tick = (await schedule(queue))["next_at"]
        await queue.clock.advance(minutes=30)
        await put(queue)
        assert (await schedule(queue))["next_at"] == tick
        await put(queue, payload={"other": True})
        assert (await schedule(queue))["next_at"] == tick
        await put(queue, "30 * * * *", payload={"other": True})
        changed = await schedule(queue)
        assert (changed["cron"], changed["next_at"]) == ("30 * * * *", queue.clock.now + HOUR)


async def test_a_schedule_of_an_unknown_type_is_refused(database: Database) -> None:
    async with calls(database) as queue:
        with pytest.raises(asyncpg.PostgresError) as caught:
            await put(queue, task_type="no such type")
        assert (caught.value.sqlstate, caught.value.detail) == ("PS001", "task_type")
        assert await rows(queue.runtime, "schedules") == []


async def test_running_a_schedule_by_hand_leaves_its_ticks_alone(database: Database) -> None:
    async with calls(database) as queue:
        await put(queue, payload={"n": 1})
        before = await schedule(queue)
        task = await value(queue.operator, "run_schedule", "hourly")
        assert (await queue.shown(task))["payload"] == {"n": 1}
        assert await schedule(queue) == before
        assert [row["subject"] for row in await queue.audits("run_schedule")] == ["hourly"]
        with pytest.raises(asyncpg.PostgresError) as caught:
            await value(queue.operator, "run_schedule", "no such")
        assert (caught.value.sqlstate, caught.value.detail) == ("PS010", "schedule")


async def test_a_dropped_schedule_no_longer_fires(database: Database) -> None:
    async with calls(database) as queue:
        await put(queue)
        assert await value(queue.operator, "drop_schedule", "hourly") is True
        assert await value(queue.operator, "drop_schedule", "hourly") is False
        await queue.clock.advance(days=1)
        assert await rows(queue.runtime, "due_schedules") == []


async def test_a_disabled_schedule_does_not_fire_until_it_is_enabled_again(database: Database) -> None:
    async with calls(database) as queue:
        await put(queue)
        await value(queue.operator, "set_schedule", "hourly", False)
        await queue.clock.advance(days=1)
        assert await rows(queue.runtime, "due_schedules") == []
        await value(queue.operator, "set_schedule", "hourly", True)
        assert [row["schedule_name"] for row in await rows(queue.runtime, "due_schedules")] == ["hourly"]
        with pytest.raises(asyncpg.PostgresError) as caught:
            await value(queue.operator, "set_schedule", "no such", False)
        assert (caught.value.sqlstate, caught.value.detail) == ("PS010", "schedule")
