"""The calls of simple workers: dequeue, complete and fail by task id, and leases and completions as views."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import asyncpg
import pytest

from penstock.db import Record
from tests.plugins.database import Database
from tests.sql.queue_calls import Calls, calls, rows


async def dequeue(queue: Calls) -> Record | None:
    (task,) = await rows(queue.runtime, "dequeue_next_available_task")
    return task if task["task_id"] is not None else None


async def dequeued(queue: Calls) -> int:
    task = await dequeue(queue)
    assert task is not None
    task_id: int = task["task_id"]
    return task_id


async def test_a_dequeued_task_has_a_lease_of_five_minutes(database: Database) -> None:
    async with calls(database) as queue:
        task = await queue.enqueue({"to": "anna"}, task_type="email")
        taken = await dequeue(queue)
        assert taken is not None
        assert (taken["task_id"], taken["task_type"], taken["payload"]) == (task, "email", '{"to": "anna"}')
        (lease,) = await queue.operator.fetch("select * from queues.task_lease")
        assert lease["task_id"] == task
        assert lease["expires_at"] - lease["leased_at"] == timedelta(minutes=5)
        await queue.clock.advance(minutes=4.9)
        assert await dequeue(queue) is None
        await queue.clock.advance(minutes=0.2)
        assert await dequeued(queue) == task


async def test_tasks_are_dequeued_in_the_order_they_became_due(database: Database) -> None:
    async with calls(database) as queue:
        later = await queue.enqueue(task_type="email", scheduled_at=queue.clock.now + timedelta(seconds=20))
        sooner = await queue.enqueue(task_type="sms", scheduled_at=queue.clock.now + timedelta(seconds=10))
        first, second = await queue.enqueue(task_type="email"), await queue.enqueue(task_type="db_function")
        assert [await dequeued(queue), await dequeued(queue)] == [first, second]
        assert await dequeue(queue) is None
        await queue.clock.advance(seconds=30)
        assert [await dequeued(queue), await dequeued(queue)] == [sooner, later]


async def test_the_queue_whose_head_is_oldest_is_dequeued_first(database: Database) -> None:
    async with calls(database) as queue:
        await rows(queue.runtime, "put_queue", "aaa")
        await rows(queue.runtime, "put_queue", "zzz")
        tasks = [await queue.enqueue(queue=name) for name in ("zzz", "default", "aaa")]
        await rows(queue.operator, "pause", "default")
        assert [await dequeued(queue), await dequeued(queue)] == [tasks[0], tasks[2]]
        assert await dequeue(queue) is None


async def test_completing_twice_is_completing_once(database: Database) -> None:
    async with calls(database) as queue:
        task = await queue.enqueue()
        await dequeued(queue)
        await rows(queue.runtime, "complete_task", task)
        await rows(queue.runtime, "complete_task", task)
        done = await queue.operator.fetch("select * from queues.task_completed")
        assert [(row["task_id"], row["completed_at"]) for row in done] == [(task, queue.clock.now)]
        await queue.clock.advance(days=1)
        assert await dequeue(queue) is None


async def test_a_workers_lease_cannot_be_completed_by_task_id(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        task = await queue.enqueue()
        lease = await queue.claim_one(worker)
        await refused(queue, task, "PS008")
        assert await queue.complete(worker, lease) == [lease["lease_id"]]
        await rows(queue.runtime, "complete_task", task)
        assert await queue.outcomes(task) == ["completed"]


async def test_a_task_that_was_never_dequeued_cannot_be_completed(database: Database) -> None:
    async with calls(database) as queue:
        await refused(queue, await queue.enqueue(), "PS008")
        await refused(queue, 4711, "PS007")
        assert await queue.count("ready") == 1


async def refused(queue: Calls, task: int, sqlstate: str) -> None:
    with pytest.raises(asyncpg.PostgresError) as caught:
        await rows(queue.runtime, "complete_task", task)
    assert (caught.value.sqlstate, caught.value.detail) == (sqlstate, "task_id")
    assert caught.value.hint


@pytest.mark.parametrize("place", ["ready", "waiting", "parked", "keyed ready"])
async def test_completing_after_the_lease_ran_out_takes_the_task_back_out(
    database: Database, place: str
) -> None:
    async with calls(database) as queue:
        await queue.limit(max_running=1)
        keys: dict[str, Any] = {} if place == "ready" else {"unique_key": "k", "limit_key": "a"}
        task = await queue.enqueue(**keys)
        assert await dequeued(queue) == task
        await queue.lose(seconds=301)
        if place == "parked":
            other = await queue.enqueue(limit_key="a", priority=0)
            await queue.admin.execute(
                "update queues.waiting set due_at = due_at + '1 second' where task_id = $1", task
            )
            assert await queue.claimed_ids(await queue.worker(lease_seconds=10**8)) == [other]
            await queue.clock.advance(seconds=2)
        if place in ("parked", "keyed ready"):
            await queue.admit()
        assert await queue.state(task) == place.split()[-1]
        await rows(queue.runtime, "complete_task", task)
        assert await queue.state(task) == "completed"
        await queue.clock.advance(days=1)
        assert await dequeue(queue) is None
        if keys:
            again = await queue.enqueue(unique_key="k")
            assert await dequeued(queue) == again


async def test_failing_a_task_only_records_its_error(database: Database) -> None:
    async with calls(database) as queue:
        task = await queue.enqueue()
        await dequeued(queue)
        await rows(queue.runtime, "fail_task", task, "no such mailbox")
        await rows(queue.runtime, "fail_task", task, "no such mailbox either")
        errors = (await queue.shown(task))["errors"]
        assert [error["error_message"] for error in errors] == ["no such mailbox", "no such mailbox either"]
        assert await queue.state(task) == "running"
        await rows(queue.runtime, "complete_task", task)
        assert await queue.outcomes(task) == ["completed"]
        with pytest.raises(asyncpg.PostgresError) as caught:
            await rows(queue.runtime, "fail_task", 4711, "what?")
        assert caught.value.sqlstate == "PS007"


async def test_the_lease_view_shows_open_and_closed_leases(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker(lease_seconds=60)
        task = await queue.enqueue()
        lease = await queue.claim_one(worker)
        view = "select task_lease_id, task_id, leased_at, expires_at from queues.task_lease"
        start = queue.clock.now
        open_row = (lease["lease_id"], task, start, start + timedelta(seconds=60))
        assert [tuple(row) for row in await queue.operator.fetch(view)] == [open_row]
        await queue.clock.advance(seconds=10)
        await queue.complete(worker, lease)
        closed_row = (lease["lease_id"], task, start, start + timedelta(seconds=10))
        assert [tuple(row) for row in await queue.operator.fetch(view)] == [closed_row]


async def test_a_task_that_is_lost_each_time_is_not_dequeued_for_ever(database: Database) -> None:
    async with calls(database) as queue:
        task = await queue.enqueue()
        for _ in range(3):
            assert await dequeued(queue) == task
            await queue.clock.advance(minutes=6)
        assert await dequeue(queue) is None
        assert await queue.state(task) == "dead"
