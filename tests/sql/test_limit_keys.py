"""Limit keys: how many tasks of one key run at once, and how many start in a time."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta

from penstock.db import Connection
from tests.plugins.database import Database
from tests.sql.queue_calls import Calls, calls, rows, sessions, value

MINUTE = timedelta(minutes=1)

OVER_TWO_A_KEY = """
select t.limit_key from queues.lease l join queues.task t using (task_id)
group by t.limit_key having count(*) > 2
"""


async def test_no_more_tasks_of_a_key_run_than_its_limit(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        await queue.limit(max_running=2)
        tasks = await queue.enqueue_many(5, limit_keys=["a"] * 5)
        other = await queue.enqueue(limit_key="b")
        leases = await queue.claim(worker, 10)
        assert sorted(lease["task_id"] for lease in leases) == sorted([*tasks[:2], other])
        assert await queue.claim(worker, 10) == []
        await queue.complete(worker, *leases)
        assert await queue.claimed_ids(worker) == tasks[2:4]


async def test_concurrent_workers_never_exceed_a_keys_limit(database: Database) -> None:
    async with calls(database) as queue, sessions(database, 3) as opened:
        await queue.limit(max_running=2)
        for key in "abc":
            await queue.enqueue_many(30, limit_keys=[key] * 30)
        assert await work_until_done(queue, opened, 90) == 0


async def work_until_done(queue: Calls, opened: Sequence[Connection], tasks: int) -> int:
    """Claim and complete on all sessions at once; returns how often a look found a key over its limit."""
    worker = await queue.worker()
    done = over = 0

    async def work(session: Connection) -> None:
        nonlocal done
        while done < tasks:
            leases = await rows(session, "claim", worker, "default", 4)
            await rows(session, "holds", worker, 0)  # a turn for the others while these run
            if leases:
                await rows(session, "complete", worker, [lease["lease_id"] for lease in leases])
                done += len(leases)

    async def watch() -> None:
        nonlocal over
        while done < tasks:
            over += len(await queue.admin.fetch(OVER_TWO_A_KEY))
            await queue.clock.advance(seconds=0.1)

    async with asyncio.timeout(60):
        await asyncio.gather(watch(), *(work(session) for session in opened))
    return over


async def test_a_task_waiting_for_a_retry_gives_up_its_slot(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        await queue.limit(max_running=1)
        first, second = await queue.enqueue_many(2, limit_keys=["a", "a"])
        lease = await queue.claim_one(worker)
        await queue.fail(worker, lease, retry_after=60)
        running = await queue.claim_one(worker)
        assert (lease["task_id"], running["task_id"]) == (first, second)
        await queue.clock.advance(seconds=61)
        assert await queue.claim(worker, 10) == []
        assert await queue.state(first) == "parked"
        await queue.complete(worker, running)
        assert await queue.claimed_ids(worker) == [first]


async def test_a_retried_task_gets_its_slot_before_those_that_never_ran(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        await queue.limit(max_running=1)
        first, second, _ = await queue.enqueue_many(3, limit_keys=["a"] * 3)
        await queue.fail(worker, await queue.claim_one(worker), retry_after=10)
        running = await queue.claim_one(worker)
        assert running["task_id"] == second
        await queue.clock.advance(seconds=11)
        assert await queue.claim(worker, 10) == []
        await queue.complete(worker, running)
        assert await queue.claimed_ids(worker) == [first]


async def test_an_urgent_task_of_a_key_starts_before_older_ones(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        await queue.limit(max_running=1)
        await queue.enqueue_many(3, limit_keys=["a"] * 3)
        running = await queue.claim_one(worker)
        urgent = await queue.enqueue(limit_key="a", priority=0)
        assert await queue.claim(worker, 10) == []
        await queue.complete(worker, running)
        assert await queue.claimed_ids(worker) == [urgent]


async def test_a_keys_own_limit_takes_precedence_over_the_rule_for_each_key(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        await queue.limit(max_running=1)
        await queue.limit("key", limit_key="big", max_running=3)
        await queue.enqueue_many(10, limit_keys=["big"] * 5 + ["small"] * 5)
        assert len(await queue.claim(worker, 10)) == 4
        await queue.limit("key", limit_key="small", max_running=2)
        assert len(await queue.claim(worker, 10)) == 1


async def test_a_changed_limit_applies_to_parked_tasks_at_once(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        await queue.limit(max_running=1)
        await queue.enqueue_many(10, limit_keys=["a"] * 10)
        assert len(await queue.claim(worker, 10)) == 1
        await queue.limit(max_running=4)
        assert len(await queue.claim(worker, 10)) == 3
        await queue.limit(max_running=2)
        assert await queue.claim(worker, 10) == []
        await queue.limit()
        assert len(await queue.claim(worker, 10)) == 6


async def starts_over(queue: Calls, worker: int, minutes: int) -> list[datetime]:
    """When tasks were started, claiming whenever the timer says, for this many minutes."""
    started: list[datetime] = []
    until = queue.clock.now + minutes * MINUTE
    while queue.clock.now < until:
        leases = await queue.claim(worker, 100)
        await queue.complete(worker, *leases)
        started += [queue.clock.now] * len(leases)
        wait = await value(queue.runtime, "next_due", "default")
        if wait is None and not leases:
            break
        await queue.clock.advance(seconds=max(wait or 0, 0.2))
    return started


def most_in_any_minute(started: list[datetime]) -> int:
    return max(sum(1 for other in started if at <= other < at + MINUTE) for at in started)


async def test_the_rate_of_a_key_is_never_exceeded_and_all_tasks_run(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        await queue.limit(rate_count=100, rate_period=MINUTE, rate_burst=10)
        await queue.enqueue_many(300, limit_keys=["a"] * 300)
        started = await starts_over(queue, worker, 5)
        assert len(started) == 300
        assert 90 <= most_in_any_minute(started) <= 110
        assert await queue.count("parked") == 0


async def test_the_rate_of_a_queue_is_never_exceeded_and_all_tasks_run(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        await queue.limit("queue", rate_count=100, rate_period=MINUTE, rate_burst=10)
        for tenant in range(3):
            await queue.enqueue_many(100, tenant_id=f"00000000-0000-0000-0000-00000000000{tenant}")
        started = await starts_over(queue, worker, 5)
        assert len(started) == 300
        assert 90 <= most_in_any_minute(started) <= 110


async def test_the_rate_of_one_key_does_not_hold_back_another(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        await queue.limit(rate_count=1, rate_period=MINUTE)
        first = await queue.enqueue_many(2, limit_keys=["a", "a"])
        second = await queue.enqueue_many(2, limit_keys=["b", "b"])
        assert await queue.claimed_ids(worker) == [first[0], second[0]]


async def test_a_raised_rate_applies_to_parked_tasks_at_once(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        await queue.limit(rate_count=1, rate_period=timedelta(hours=1))
        await queue.enqueue_many(20, limit_keys=["a"] * 20)
        assert len(await queue.claim(worker, 100)) == 1
        await queue.limit(rate_count=100, rate_period=MINUTE, rate_burst=10)
        started = await starts_over(queue, worker, 1)
        assert len(started) == 19


async def test_a_raised_rate_of_a_queue_applies_at_once(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        await queue.limit("queue", rate_count=1, rate_period=timedelta(hours=1))
        await queue.enqueue_many(20)
        assert len(await queue.claim(worker, 100)) == 1
        await queue.limit("queue", rate_count=100, rate_period=MINUTE, rate_burst=10)
        assert len(await starts_over(queue, worker, 1)) == 19
