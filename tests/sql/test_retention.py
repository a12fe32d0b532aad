"""History is removed by dropping partitions; unfinished tasks stay, however old."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from tests.plugins.database import Database
from tests.sql.queue_calls import Calls, calls, rows, sessions, value

YEARS = 10**8


async def maintain(queue: Calls) -> dict[str, int]:
    answer: dict[str, int] = json.loads(await value(queue.runtime, "maintain"))
    return answer


async def live(queue: Calls, days: int, each: Callable[[], Awaitable[object]] | None = None) -> None:
    """This many days with a little work and the daily maintenance."""
    worker = await queue.worker(lease_seconds=YEARS)
    for _ in range(days):
        await queue.clock.advance(days=1.01)
        await queue.enqueue_many(3)
        leases = await queue.claim(worker, 3)
        if leases:
            await queue.complete(worker, *leases)
        if each is not None:
            await each()
        await maintain(queue)


async def test_completed_tasks_leave_after_seven_days(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker(lease_seconds=YEARS)
        task = await queue.enqueue()
        await queue.complete(worker, await queue.claim_one(worker))
        await live(queue, 6)
        assert await queue.outcomes(task) == ["completed"]
        await live(queue, 4)
        assert await queue.count("task", f"task_id = {task}") == 0
        assert await queue.count("attempt", f"task_id = {task}") == 0
        assert await queue.count("task") > 0


async def test_dead_letters_leave_after_ninety_days_and_their_errors_with_them(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker(lease_seconds=YEARS)
        task = await queue.die(worker, message="no disk")

        async def some_error() -> None:
            await queue.die(worker)

        await live(queue, 85, some_error)
        assert await queue.state(task) == "dead"
        assert await queue.count("error", f"task_id = {task}") == 1
        await live(queue, 10, some_error)
        assert await queue.count("dead_letter", f"task_id = {task}") == 0
        assert await queue.count("error", f"task_id = {task}") == 0
        assert await queue.count("dead_letter") > 80


async def test_a_task_scheduled_four_hundred_days_ahead_survives_every_drop_and_then_runs(
    database: Database,
) -> None:
    async with calls(database) as queue:
        task = await queue.enqueue({"n": 1}, delay=timedelta(days=400), unique_key="k", limit_key="a")
        # days pass three at a time; each closes a partition and drops those of a week before
        worker = await queue.worker(lease_seconds=YEARS)
        dropped = 0
        for _ in range(133):
            await queue.clock.advance(days=3)
            await queue.enqueue_many(3)
            await queue.complete(worker, *await queue.claim(worker, 3))
            dropped += (await maintain(queue))["partitions_dropped"]
        assert dropped > 200
        assert await queue.state(task) == "waiting"
        assert (await queue.shown(task))["payload"] == {"n": 1}
        await queue.clock.advance(days=2)
        lease = await queue.claim_one(worker)
        assert (lease["task_id"], lease["payload"]) == (task, '{"n": 1}')
        assert await queue.complete(worker, lease) == [lease["lease_id"]]


@pytest.mark.parametrize("place", ["ready", "running", "parked", "retrying"])
async def test_an_unfinished_task_survives_the_drop_of_its_partition(database: Database, place: str) -> None:
    async with calls(database) as queue:
        await queue.limit(max_running=1)
        await queue.put_type("slow", queue="slow", retry={"default": {"kind": "table", "delays": [0, 10**6]}})
        await queue.limit(queue="slow", max_running=1)
        worker = await queue.worker("slow", lease_seconds=YEARS)
        await queue.enqueue(task_type="slow", limit_key="a")
        running = await queue.claim_one(worker, "slow")
        task = (
            running["task_id"]
            if place in ("running", "retrying")
            else await queue.enqueue(task_type="slow", limit_key="a" if place == "parked" else None)
        )
        if place == "retrying":
            await queue.fail(worker, running)
        if place == "parked":
            assert await queue.claim(worker, 1, "slow") == []
        await live(queue, 12)
        assert await queue.count("task", f"task_id = {task}") == 0
        assert await queue.state(task) == {"retrying": "waiting"}.get(place, place)
        if place in ("running", "parked"):
            assert await queue.complete(worker, running) == [running["lease_id"]]
        if place != "running":
            assert await queue.claimed_ids(worker, 1, "slow") == [task]


async def test_a_lease_older_than_the_history_can_still_be_closed(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker("slow", lease_seconds=YEARS)
        await queue.put_type("slow", queue="slow")
        task = await queue.enqueue(task_type="slow")
        lease = await queue.claim_one(worker, "slow")
        await live(queue, 15)
        assert await queue.complete(worker, lease) == [lease["lease_id"]]
        assert await queue.count("attempt", f"task_id = {task}") == 1
        before = await queue.count("partition", "parent = 'attempt'")
        await live(queue, 2)
        assert await queue.count("partition", "parent = 'attempt'") < before


async def test_ids_keep_rising_over_partitions(database: Database) -> None:
    async with calls(database) as queue:
        ids: list[int] = []

        async def note() -> None:
            ids.extend(await queue.enqueue_many(2, delay=timedelta(days=1000)))

        await live(queue, 10, note)
        assert ids == sorted(set(ids))
        assert ids[-1] > 9 * 100_000_000
        assert await queue.count("partition", "parent = 'task' and opened_at is null") >= 2


async def test_days_without_work_make_no_partitions(database: Database) -> None:
    async with calls(database) as queue:
        await queue.enqueue_many(3)
        for _ in range(5):
            await queue.clock.advance(days=2)
            await maintain(queue)
        partitions = await queue.count("partition", "parent = 'task'")
        for _ in range(5):
            await queue.clock.advance(days=2)
            assert (await maintain(queue))["partitions_made"] == 0
        assert await queue.count("partition", "parent = 'task'") <= partitions


async def test_maintenance_is_done_by_one_at_a_time(database: Database) -> None:
    async with calls(database) as queue, sessions(database, 1) as (other,):
        async with other.transaction():
            assert await value(other, "maintain") is not None
            assert await asyncio.wait_for(value(queue.runtime, "maintain"), 10) is None
        assert await value(queue.runtime, "maintain") is not None


async def test_maintenance_leaves_a_partition_somebody_reads_for_the_next_round(database: Database) -> None:
    async with calls(database) as queue:
        await live(queue, 7)
        await queue.clock.advance(days=3)
        async with database.connect("admin") as reader, reader.transaction():
            await reader.fetch("select from queues.task limit 1")
            worker = await queue.worker()
            await queue.clock.advance(days=0.01)
            await maintain(queue)
            assert await queue.count("task_kept") == 0
            await queue.enqueue()
            assert len(await queue.claim(worker, 1)) == 1
        assert (await maintain(queue))["partitions_dropped"] > 0


async def test_maintenance_forgets_what_ended_workers_left(database: Database) -> None:
    async with calls(database) as queue:
        silent, stopped = await queue.worker(), await queue.worker()
        for worker in (silent, stopped):
            await rows(queue.runtime, "go_idle", worker, "default", True)
        await rows(queue.runtime, "stop_worker", stopped)
        await queue.lose()
        await maintain(queue)
        assert await queue.count("idle") == 0
        assert await queue.count("worker", "worker_id > 0") == 2
        await queue.clock.advance(days=1.1)
        assert await rows(queue.operator, "workers", True) == [], "a person sees the last day"
        # Their attempts show which versions they ran, so they are kept as long as these.
        assert (await maintain(queue))["workers_forgotten"] == 0
        await queue.clock.advance(days=6)
        assert (await maintain(queue))["workers_forgotten"] == 2
        assert await queue.count("worker") == 1


async def test_maintenance_keeps_the_newest_grant_of_a_rate(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker(lease_seconds=YEARS)
        await queue.limit(rate_count=1, rate_period=timedelta(hours=5))
        await queue.enqueue_many(3, limit_keys=["a"] * 3)
        assert len(await queue.claim(worker, 10)) == 1
        await queue.clock.advance(minutes=301)
        assert len(await queue.claim(worker, 10)) == 1
        await queue.clock.advance(minutes=90)
        assert await queue.count("rate_grant") == 2
        await maintain(queue)
        assert await queue.count("rate_grant") == 1
        assert await queue.claim(worker, 10) == []
