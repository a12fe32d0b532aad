"""Which task is claimed next: priority, then arrival; what returns goes first, but not alone."""

from __future__ import annotations

from datetime import timedelta

import asyncpg
import pytest

from tests.plugins.database import Database
from tests.sql.queue_calls import calls, value


async def test_an_urgent_task_runs_before_an_older_one(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        late = await queue.enqueue(priority=9)
        usual = await queue.enqueue()
        urgent = await queue.enqueue(priority=0)
        assert [await queue.claimed_ids(worker, 1) for _ in range(3)] == [[urgent], [usual], [late]]


async def test_tasks_of_one_lane_are_claimed_in_the_order_they_came(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        tasks = await queue.enqueue_many(20)
        claimed = [task for size in (1, 3, 1, 7, 8) for task in await queue.claimed_ids(worker, size)]
        assert claimed == tasks


async def test_retried_tasks_run_before_new_ones_but_take_at_most_half_a_claim(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        await queue.enqueue_many(40)
        for lease in await queue.claim(worker, 40):
            assert (await queue.fail(worker, lease, retry_after=0))["outcome"] == "retry"
        urgent = await queue.enqueue_many(40, priority=0)
        attempts = [lease["failures"] for lease in await queue.claim(worker, 20)]
        assert sorted(attempts) == [0] * 10 + [1] * 10
        assert len(urgent) == 40


async def test_returned_tasks_fill_a_claim_that_nothing_else_fills(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        await queue.enqueue_many(10)
        for lease in await queue.claim(worker, 10):
            await queue.fail(worker, lease, retry_after=0)
        await queue.enqueue_many(2)
        attempts = [lease["failures"] for lease in await queue.claim(worker, 10)]
        assert sorted(attempts) == [0] * 2 + [1] * 8


async def test_a_delayed_task_is_claimed_when_it_is_due_and_not_before(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        task = await queue.enqueue(delay=timedelta(seconds=60))
        scheduled = await queue.enqueue(scheduled_at=queue.clock.now + timedelta(seconds=120))
        past = await queue.enqueue(scheduled_at=queue.clock.now - timedelta(days=1))
        assert await queue.claimed_ids(worker) == [past]
        await queue.clock.advance(seconds=59)
        assert await queue.claimed_ids(worker) == []
        await queue.clock.advance(seconds=1)
        assert await queue.claimed_ids(worker) == [task]
        await queue.clock.advance(seconds=60)
        assert await queue.claimed_ids(worker) == [scheduled]


async def test_due_tasks_are_admitted_in_the_order_they_became_due(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        tasks = {
            seconds: await queue.enqueue(delay=timedelta(seconds=seconds)) for seconds in (30, 10, 50, 20, 40)
        }
        await queue.clock.advance(minutes=1)
        claimed = [(await queue.claimed_ids(worker, 1))[0] for _ in range(5)]
        assert claimed == [tasks[seconds] for seconds in (10, 20, 30, 40, 50)]


async def test_admission_moves_no_more_than_its_limit(database: Database) -> None:
    async with calls(database) as queue:
        await queue.enqueue_many(30, delay=timedelta(seconds=1))
        await queue.clock.advance(seconds=2)
        queue_id = await queue.admin.fetchval(
            "select queue_id from queues.queue where queue_name = 'default'"
        )
        assert await value(queue.runtime, "admit", queue_id, 20) == 20
        assert (await queue.count("ready"), await queue.count("waiting")) == (20, 10)


async def test_the_idle_workers_timer_is_the_next_due_task(database: Database) -> None:
    async with calls(database) as queue:
        assert await value(queue.runtime, "next_due", "default") is None
        await queue.enqueue(delay=timedelta(seconds=90))
        await queue.enqueue(delay=timedelta(seconds=30))
        assert await value(queue.runtime, "next_due", "default") == 30
        await queue.clock.advance(seconds=31)
        assert await value(queue.runtime, "next_due", "default") == 0
        assert await value(queue.runtime, "next_due", "no such queue") is None


async def test_a_claim_never_exceeds_its_limit_however_many_lanes_there_are(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        for tenant in range(3):
            await queue.enqueue_many(20, tenant_id=f"00000000-0000-0000-0000-00000000000{tenant}")
        assert len(await queue.claim(worker, 10)) == 10
        assert len(await queue.claim(worker, 1)) == 1
        assert len(await queue.claim(worker, 100)) == 49


async def test_each_queue_is_claimed_separately(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker("default", "reports")
        plain = await queue.enqueue()
        report = await queue.enqueue(queue="reports")
        assert await queue.claimed_ids(worker, queue="reports") == [report]
        assert await queue.claimed_ids(worker) == [plain]


async def test_a_claim_of_an_unknown_queue_is_refused(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        with pytest.raises(asyncpg.PostgresError) as caught:
            await queue.claim(worker, 1, "no such queue")
        assert (caught.value.sqlstate, caught.value.detail) == ("PS002", "queue")


async def test_a_small_claim_takes_one_task_of_each_tenant_a_large_one_several(database: Database) -> None:
    """Long tasks are claimed a few at a time, and shared out evenly; short ones by the hundred, cheaply."""
    async with calls(database) as queue:
        worker = await queue.worker()
        await queue.admin.execute(
            "select queues.enqueue_many('job', array_fill('{}'::jsonb, array[8]),"
            " _tenant_id => gen_random_uuid()) from generate_series(1, 300)"
        )
        few = await queue.claim(worker, 100)
        assert len({lease["tenant_id"] for lease in few}) == 100
        many = await queue.claim(worker, 512)
        assert len(many) == 512
        assert 128 <= len({lease["tenant_id"] for lease in many}) <= 140
