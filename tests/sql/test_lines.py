"""Tasks that wait in line for a key: one at a time and in their order, whatever happens to each."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from datetime import timedelta
from typing import Any

from tests.plugins.database import Database
from tests.sql.queue_calls import Calls, calls, rows

TENANTS = ("00000000-0000-0000-0000-00000000000a", "00000000-0000-0000-0000-00000000000b")


async def enqueue(queue: Calls, key: str = "k", **options: Any) -> int:
    return await queue.enqueue(unique_key=key, on_duplicate="wait", **options)


async def broken(queue: Calls) -> list[object]:
    return [row["promise"] for row in await rows(queue.admin, "audit_invariants")]


async def test_tasks_of_a_line_run_one_at_a_time_in_their_order(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        line = [await enqueue(queue) for _ in range(5)]
        other = await enqueue(queue, "another")
        assert await broken(queue) == []
        leases = await queue.claim(worker, 10)
        assert sorted(each["task_id"] for each in leases) == [line[0], other]
        await queue.complete(worker, *leases)
        for expected in line[1:]:
            (lease,) = await queue.claim(worker, 10)
            assert lease["task_id"] == expected
            await queue.complete(worker, lease)
        assert await queue.claim(worker, 10) == []
        assert (await queue.count("held"), await queue.count("parked")) == (0, 0)


async def test_a_task_that_fails_holds_the_line_until_it_ends_for_good(database: Database) -> None:
    async with calls(database) as queue:
        await queue.put_type(max_attempts=2)
        worker = await queue.worker()
        first, second = await enqueue(queue), await enqueue(queue)
        lease = await queue.claim_one(worker)
        assert (await queue.fail(worker, lease, retry_after=60))["outcome"] == "retry"
        assert await queue.claim(worker, 10) == [], "the second waits while the first waits for its retry"
        await queue.clock.advance(minutes=2)
        lease = await queue.claim_one(worker)
        assert lease["task_id"] == first
        assert (await queue.fail(worker, lease))["outcome"] == "dead"
        lease = await queue.claim_one(worker)
        assert lease["task_id"] == second
        await queue.complete(worker, lease)
        assert await broken(queue) == []


async def test_the_task_of_a_lost_worker_runs_again_before_those_behind_it(database: Database) -> None:
    async with calls(database) as queue:
        lost = await queue.worker(lease_seconds=5)
        first, second = await enqueue(queue), await enqueue(queue)
        assert (await queue.claim_one(lost))["task_id"] == first
        await queue.clock.advance(seconds=6)
        worker = await queue.worker()
        await rows(queue.runtime, "rescue")
        lease = await queue.claim_one(worker)
        assert lease["task_id"] == first
        assert await queue.claim(worker, 10) == []
        await queue.complete(worker, lease)
        assert (await queue.claim_one(worker))["task_id"] == second


async def test_a_line_holds_several_task_types_of_one_tenant(database: Database) -> None:
    async with calls(database) as queue:
        await queue.put_type("other")
        worker = await queue.worker()
        line = [
            await enqueue(queue, tenant_id=TENANTS[0]),
            await enqueue(queue, task_type="other", tenant_id=TENANTS[0]),
            await enqueue(queue, tenant_id=TENANTS[0]),
        ]
        theirs = await enqueue(queue, tenant_id=TENANTS[1])
        ran = []
        for _ in line:
            leases = await queue.claim(worker, 10)
            ran += [each["task_id"] for each in leases if each["task_id"] != theirs]
            await queue.complete(worker, *leases)
        assert ran == line


async def test_a_delayed_task_joins_the_line_when_it_is_due_and_a_cancelled_one_leaves_it(
    database: Database,
) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        late = await enqueue(queue, delay=timedelta(minutes=1))
        first, cancelled, last = [await enqueue(queue) for _ in range(3)]
        lease = await queue.claim_one(worker)
        await rows(queue.operator, "cancel_task", cancelled)
        await queue.clock.advance(minutes=2)
        assert await queue.claim(worker, 10) == []
        ran = [lease["task_id"]]
        while True:
            await queue.complete(worker, lease)
            if not (leases := await queue.claim(worker, 10)):
                break
            (lease,) = leases
            ran.append(lease["task_id"])
        assert (ran[0], sorted(ran[1:])) == (first, sorted([late, last]))
        assert await broken(queue) == []


async def test_many_workers_keep_the_order_of_every_line(database: Database) -> None:
    """Claims race for the keys' locks; the loser tries again, and nobody overtakes."""
    started: dict[str, list[int]] = defaultdict(list)
    async with calls(database, real_time=True) as queue:
        keys = {await enqueue(queue, f"k{number % 5}"): f"k{number % 5}" for number in range(100)}
        running: set[str] = set()

        async def work(name: str) -> None:
            async with calls(database, real_time=True) as own:
                worker = await own.worker(name=name)
                while sum(map(len, started.values())) < len(keys):
                    for lease in await own.claim(worker, 3):
                        key = keys[lease["task_id"]]
                        assert key not in running
                        running.add(key)
                        started[key].append(lease["task_id"])
                        await asyncio.sleep(0)
                        running.discard(key)
                        await own.complete(worker, lease)

        async with asyncio.timeout(60), asyncio.TaskGroup() as group:
            for number in range(4):
                group.create_task(work(f"w{number}"))
        for ran in started.values():
            assert ran == sorted(ran)
        assert await broken(queue) == []
