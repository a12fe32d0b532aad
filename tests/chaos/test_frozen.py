"""Workers that freeze: after their lease they close and write nothing, and meanwhile block nobody."""

from __future__ import annotations

import asyncio
import signal

import pytest

from tests.chaos.work import LONG, assert_each_effect_once, declared, enqueue
from tests.plugins.workers import Books, Crew, Mill, eventually


async def _worker_of(books: Books, pid: int) -> int:
    """The id of the newest registration of a process."""
    found: int | None = await books.value(
        "select max(worker_id) from queues.worker where worker_name like $1", f"%:{pid}"
    )
    return found or 0


@pytest.mark.parametrize("round_number", range(20 if LONG else 2))
async def test_a_worker_that_wakes_up_late_writes_nothing_and_continues_to_work(
    mill: Mill, crew: Crew, round_number: int
) -> None:
    async with mill.open(mill.app()) as books:
        zombie = crew.spawn()
        await declared(books)
        await enqueue(books.admin, "late", 5, seconds=(1.0, 1.0))
        await eventually(lambda: _holds(books, 5), what="it holds all five")
        old = await _worker_of(books, zombie.pid)
        zombie.send_signal(signal.SIGSTOP)
        healthy = crew.spawn()
        await books.drained(5)
        writer = await _worker_of(books, healthy.pid)
        assert await books.value("select array_agg(distinct worker_id) from public.effect") == [writer]

        zombie.send_signal(signal.SIGCONT)

        async def registered_again() -> bool:
            return await _worker_of(books, zombie.pid) > old

        await eventually(registered_again, what="it registers again")
        crew.kill(healthy)
        await enqueue(books.admin, "late", 5, first=5)
        await books.drained(10)
        await assert_each_effect_once(books, 10, "late")
        assert await books.count("queues.attempt", f"worker_id = {old} and outcome = 'completed'") == 0
        await asyncio.to_thread(crew.dismiss)


async def _holds(books: Books, count: int) -> bool:
    return await books.count("queues.lease") == count


async def test_a_worker_frozen_at_its_commit_blocks_no_rescue(mill: Mill, crew: Crew) -> None:
    """It holds the lock of one lease. The others are taken at once, the last when its session times out."""
    async with mill.open(mill.app()) as books:
        frozen = crew.spawn()
        await declared(books)
        await enqueue(books.admin, "late", 8, seconds=(60, 60))
        [held] = await enqueue(books.admin, "holding", 1, first=100)
        await eventually(lambda: books.count("public.effect", "note = 'held'"), what="it holds a lock")
        await eventually(lambda: _holds(books, 9), what="it holds all nine")
        frozen.send_signal(signal.SIGSTOP)
        crew.spawn()
        await books.drained(9, within=30)
        await assert_each_effect_once(books, 8, "late")
        await assert_each_effect_once(books, 1, "holding")
        assert await books.outcomes(held) == ["lost", "completed"]
        crew.kill(frozen)
        await asyncio.to_thread(crew.dismiss)


async def test_a_lock_on_one_lease_does_not_block_the_rescue_of_the_others(mill: Mill, crew: Crew) -> None:
    async with mill.open(mill.app()) as books, mill.database.connect("admin") as locker:
        victim = crew.spawn()
        await declared(books)
        await enqueue(books.admin, "late", 9, seconds=(60, 60))
        await eventually(lambda: _holds(books, 9), what="it holds all nine")
        async with locker.transaction():
            locked = await locker.fetchval("select task_id from queues.lease limit 1 for update")
            crew.kill(victim)
            crew.spawn()

            async def others_done() -> bool:
                return await books.completed() == 8

            await eventually(others_done, within=20)
            assert await books.state(locked) == "running"
        await books.drained(9)
        await assert_each_effect_once(books, 9, "late")
        await asyncio.to_thread(crew.dismiss)
