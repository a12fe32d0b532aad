"""The two marks: what a worker may skip, and what it must never skip."""

from __future__ import annotations

import asyncio
from itertools import combinations

from penstock.db import Connection, Record
from tests.plugins.database import Database
from tests.plugins.workers import eventually
from tests.sql.queue_calls import Calls, calls, rows, sessions, value


async def probe(session: Connection, *marks: list[int]) -> Record:
    (answer,) = await rows(session, "probe", "default", *marks)
    return answer


def passes(later: Record, earlier: Record) -> bool:
    """Whether what the earlier probe saw is safe to skip to by the later one."""
    return bool(later["snapshot_min"] >= earlier["snapshot_max"])


async def passing(queue: Calls, earlier: Record) -> Record:
    """The first probe that passes the earlier one; writers of other tests on the server hold it up too."""
    later: list[Record] = []

    async def passed() -> bool:
        later.append(await probe(queue.runtime))
        return passes(later[-1], earlier)

    await eventually(passed, within=60, what="every writer of the earlier probe has ended")
    return later[-1]


async def test_a_producer_that_commits_late_is_found_from_the_safe_mark(database: Database) -> None:
    async with calls(database) as queue, sessions(database, 1) as (producer,):
        worker = await queue.worker()
        async with producer.transaction():
            late = await value(producer, "enqueue", "job", {})
            await queue.enqueue_many(10_000)
            first = await probe(queue.runtime)
            (lane,) = first["lanes"]
            safe = 0
            while leases := await queue.claim(worker, 2_000):
                await queue.complete(worker, *leases)
            second = await probe(queue.runtime)
            assert second["lanes"] is None
            assert second["newest"] > late + 10_000
            if passes(second, first):
                safe = first["tickets"][0]
            assert safe <= late
        found = await queue.claim(worker, 10, lanes=[lane], starts=[safe], find=False)
        assert [lease["task_id"] for lease in found] == [late]

        # every writer of then has ended: now the worker may skip all it saw
        third = await passing(queue, first)
        assert third["snapshot_max"] > second["snapshot_max"]
        await passing(queue, second)


async def test_the_only_producer_of_a_quiet_system_is_not_skipped(database: Database) -> None:
    async with calls(database) as queue, sessions(database, 1) as (producer,):
        worker = await queue.worker()
        await queue.enqueue()
        (lane,) = (await probe(queue.runtime))["lanes"]
        await queue.complete(worker, await queue.claim_one(worker))
        async with producer.transaction():
            late = await value(producer, "enqueue", "job", {})
            probes = [await probe(queue.runtime) for _ in range(5)]
            assert all(seen["newest"] > late for seen in probes)
            assert not any(passes(later, earlier) for earlier, later in combinations(probes, 2))
        assert (await probe(queue.runtime))["lanes"] == [lane]
        for earlier in probes:
            await passing(queue, earlier)


async def test_a_pinned_reader_does_not_stop_the_safe_mark(database: Database) -> None:
    async with calls(database) as queue, sessions(database, 1) as (reader,):
        await queue.enqueue_many(10)
        async with reader.transaction(isolation="repeatable_read"):
            await reader.fetch("select queues.task_state(1)")
            first = await probe(queue.runtime)
            await queue.enqueue_many(10)
            second = await passing(queue, first)
            assert second["newest"] > first["newest"]


async def test_a_ticket_drawn_after_the_probes_snapshot_is_not_skipped(database: Database) -> None:
    async with calls(database) as queue, sessions(database, 2) as (prober, producer):
        await queue.admin.execute("select pg_advisory_lock(1)")
        # the statement has its snapshot and waits; only then the producer begins
        waiting = asyncio.create_task(
            prober.fetchrow(
                """
                with gate as materialized (select pg_advisory_lock_shared(1))
                select p.* from gate, queues.probe('default') p
                """
            )
        )
        await blocked(queue.admin)
        transaction = producer.transaction()
        await transaction.start()
        ticket = await value(producer, "enqueue", "job", {})
        await queue.admin.execute("select pg_advisory_unlock(1)")
        first = await waiting
        assert first is not None
        second = await probe(queue.runtime)
        assert not (passes(second, first) and first["newest"] > ticket)
        await transaction.commit()


async def blocked(admin: Connection) -> None:
    """Wait until a session waits for the advisory lock."""
    async with asyncio.timeout(10):
        blocked_yet = None
        while not blocked_yet:
            blocked_yet = await admin.fetchval(
                "select true from pg_locks where locktype = 'advisory' and not granted"
                " and database = (select oid from pg_database where datname = current_database())"
            )


async def test_the_newest_ticket_of_a_probe_is_never_past_the_next_one_drawn(database: Database) -> None:
    async with calls(database) as queue:
        fresh = await probe(queue.runtime)
        assert await queue.enqueue() >= fresh["newest"]
        used = await probe(queue.runtime)
        assert await queue.enqueue() >= used["newest"]
        await queue.enqueue_many(5)
        await queue.clock.advance(days=2)
        await rows(queue.runtime, "maintain")
        rolled = await probe(queue.runtime)
        assert await queue.enqueue() >= rolled["newest"]


async def test_a_probe_returns_the_first_ticket_of_each_lane(database: Database) -> None:
    async with calls(database) as queue:
        one = await queue.enqueue(priority=3)
        two = await queue.enqueue(tenant_id="00000000-0000-0000-0000-00000000000a")
        await queue.enqueue_many(5, priority=3)
        seen = await probe(queue.runtime)
        assert seen["lanes"] == sorted(seen["lanes"])
        assert set(seen["tickets"]) == {one, two}
        again = await probe(queue.runtime, seen["lanes"], seen["tickets"])
        assert (again["lanes"], again["tickets"]) == (seen["lanes"], seen["tickets"])


async def test_a_known_lane_is_probed_from_its_mark_and_a_new_one_from_its_start(database: Database) -> None:
    async with calls(database) as queue:
        tasks = await queue.enqueue_many(4)
        (lane,) = (await probe(queue.runtime))["lanes"]
        before, after = await queue.enqueue(priority=1), await queue.enqueue(priority=9)
        seen = await probe(queue.runtime, [lane], [tasks[2]])
        assert seen["tickets"] == [before, tasks[2], after]
        spent = await probe(queue.runtime, [lane], [after + 1])
        assert spent["tickets"] == [before, after]
