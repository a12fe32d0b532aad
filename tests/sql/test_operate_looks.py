"""What people see of tasks and failures: whole lists page by page, counts that agree, their own only."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from uuid import UUID, uuid4

import pytest

from penstock.db import Connection
from penstock.db.connect import translated
from penstock.errors import InvalidArgument
from tests.plugins.database import Database
from tests.sql.queue_calls import Calls, calls, rows, value

PENDING = ("ready", "running", "waiting", "parked", "dead")
ENDED = ("completed", "failed", "cancelled")
PAGE = 3


@asynccontextmanager
async def of_tenant(connection: Connection, tenant: UUID) -> AsyncIterator[Connection]:
    async with connection.transaction():
        await connection.execute("select set_config('penstock.tenant_id', $1, true)", str(tenant))
        yield connection


async def every_state(queue: Calls, worker: int, *tenants: UUID) -> None:
    """Seven tasks of each tenant in each state; those that stay ready come last."""
    for tenant in tenants:
        for number in range(7):
            await queue.enqueue(tenant_id=tenant)
            await queue.complete(worker, await queue.claim_one(worker))
            await queue.die(worker, tenant_id=tenant, message=f"it broke at {number}")
            await queue.enqueue(tenant_id=tenant, delay=timedelta(seconds=100 + number))
            unwanted = await queue.enqueue(tenant_id=tenant, delay=timedelta(seconds=9))
            await rows(queue.operator, "cancel_task", unwanted)
        await queue.enqueue_many(8, tenant_id=tenant, limit_keys=[f"of {tenant}"] * 8)
        assert len(await queue.claim(worker, 8)) == 1
        await queue.enqueue_many(6, tenant_id=tenant)
        assert len(await queue.claim(worker, 6)) == 6
    for tenant in tenants:
        await queue.enqueue_many(4, tenant_id=tenant)
        await queue.enqueue_many(3, tenant_id=tenant, priority=1)


async def pages(connection: Connection, state: str, **named: object) -> list[int]:
    """The ids of all pages, in their order."""
    found: list[int] = []
    after = None
    for _ in range(100):
        page = await rows(connection, "page_tasks", state, after=after, limit=PAGE, **named)
        found += [row["task_id"] for row in page if row["task_id"] is not None]
        if not page or (len(page) < PAGE and page[-1]["task_id"] is not None):
            return found
        after = page[-1]["place"]
    raise AssertionError("the pages do not end")


async def test_pages_are_complete_and_agree_with_the_count_and_tenants_see_their_own(
    database: Database,
) -> None:
    async with calls(database) as queue:
        await queue.limit(max_running=1)
        worker, mine, other = await queue.worker(lease_seconds=36_000), uuid4(), uuid4()
        await every_state(queue, worker, mine, other)
        for state in (*PENDING, *ENDED):
            everything = await pages(queue.operator, state)
            assert len(everything) == len(set(everything)) == 14, state
            assert await value(queue.operator, "count_tasks", state) == 14
            of_one = await pages(queue.operator, state, tenant_id=mine)
            async with of_tenant(queue.runtime, mine) as connection:
                assert await pages(connection, state) == of_one, state
                assert await value(connection, "count_tasks", state) == 7
                assert await pages(connection, state, tenant_id=other) == of_one, "another's name is ignored"
                narrowed = await pages(connection, state, task_type="job", queue="default")
                assert narrowed == of_one
                assert await pages(connection, state, task_type="other") == []
                assert await value(connection, "count_tasks", state, task_type="other") == 0
            assert len(of_one) == 7
            assert set(of_one) < set(everything)
        async with of_tenant(queue.runtime, mine) as connection:
            (figures,) = await rows(connection, "figures", "default")
            assert [figures[state] for state in PENDING] == [7] * 5
        (figures,) = await rows(queue.operator, "figures", "default")
        assert [figures[state] for state in PENDING] == [14] * 5
        await rows(queue.operator, "purge_dead")


async def test_pages_neither_repeat_nor_miss_a_task_that_stays_while_others_come_and_go(
    database: Database,
) -> None:
    async with calls(database) as queue:
        worker = await queue.worker(lease_seconds=36_000)
        staying = await queue.enqueue_many(30, priority=5)
        seen: list[int] = []
        after = None
        while True:
            page = await rows(queue.operator, "page_tasks", "ready", after=after, limit=4)
            seen += [row["task_id"] for row in page]
            if len(page) < 4:
                break
            after = page[-1]["place"]
            await queue.enqueue_many(2, priority=9)
            await queue.enqueue_many(1, priority=0)
            await queue.claim(worker, 1)  # the urgent one that has just come
        assert len(seen) == len(set(seen))
        assert set(staying) <= set(seen)


async def test_a_search_that_no_index_helps_stops_and_goes_on_from_where_it_stopped(
    database: Database,
) -> None:
    async with calls(database) as queue:
        await queue.put_type("rare")
        await queue.enqueue_many(5_000)
        rare = await queue.enqueue(task_type="rare")
        page = await rows(queue.operator, "page_tasks", "ready", task_type="rare", scan=2_000)
        assert [row["task_id"] for row in page] == [None]
        found = await pages(queue.operator, "ready", task_type="rare", scan=2_000)
        assert found == [rare]
        total, approximate = (await rows(queue.operator, "count_tasks", "ready", task_type="rare"))[0]
        assert (total, approximate) == (1, False)
        await queue.admin.execute("truncate queues.ready, queues.task")


async def test_counts_above_ten_thousand_are_estimates_and_say_so(database: Database) -> None:
    async with calls(database) as queue:
        await queue.runtime.execute(
            "select queues.enqueue_many('job', array_agg('{}'::jsonb)) from generate_series(1, 12000)"
        )
        total, approximate = (await rows(queue.operator, "count_tasks", "ready"))[0]
        assert (total >= 10_001, approximate) == (True, True)
        await queue.clock.advance(minutes=1)
        await rows(queue.runtime, "take_samples")
        assert tuple((await rows(queue.operator, "count_tasks", "ready"))[0]) == (12_000, True)
        (figures,) = await rows(queue.operator, "figures", "default")
        assert (figures["ready"], figures["approximate"]) == (12_000, True)
        await queue.admin.execute("truncate queues.ready, queues.task")


async def test_dead_letters_of_one_cause_are_one_group_with_their_hours(database: Database) -> None:
    async with calls(database) as queue:
        worker, mine = await queue.worker(lease_seconds=360_000), uuid4()
        for number in range(5):
            await queue.die(worker, message=f"order {number} broke", tenant_id=mine)
            await queue.clock.advance(minutes=60)
        await queue.die(worker, message="something else", code="Other")
        groups = await rows(queue.operator, "dead_groups")
        assert [(row["error_code"], row["letters"]) for row in groups] == [("Other", 1), ("Error", 5)]
        assert (sum(groups[1]["hours"]), len(groups[1]["hours"]), groups[1]["hours"][-1]) == (5, 24, 0)
        async with of_tenant(queue.runtime, mine) as connection:
            (own,) = await rows(connection, "dead_groups")
            members = await rows(connection, "dead_members", own["fingerprint"], limit=3)
            rest = await rows(connection, "dead_members", own["fingerprint"], members[-1]["place"])
            assert len({row["task_id"] for row in (*members, *rest)}) == 5
            assert await rows(connection, "dead_members", groups[0]["fingerprint"]) == []
        await rows(queue.operator, "purge_dead")


async def test_a_cursor_of_something_else_is_refused(database: Database) -> None:
    async with calls(database) as queue:
        for function, arguments in (
            ("page_tasks", {"after": "1; drop"}),
            ("page_tasks", {"state": "sleeping"}),
            ("dead_members", {"fingerprint": "x", "after": "1"}),
        ):
            with pytest.raises(InvalidArgument), translated():
                await rows(queue.operator, function, **arguments)


async def test_what_holds_a_task_up_is_linked(database: Database) -> None:
    async with calls(database) as queue:
        await queue.limit(max_running=1)
        task = await queue.enqueue()
        (alone,) = [
            row for row in await rows(queue.operator, "explain", task) if row["reason"] == "no_worker"
        ]
        assert alone["link"] == "/workers"
        worker = await queue.worker(lease_seconds=3_600, name="a b&c+d%e#f")
        holder, parked = await queue.enqueue_many(2, limit_keys=["a", "a"])
        await queue.claim(worker, 10)
        links = {row["reason"]: row["link"] for row in await rows(queue.operator, "explain", parked)}
        assert links["key_held"] == f"/tasks/{holder}"
        running = await rows(queue.operator, "explain", holder)
        assert running[0]["link"] == "/workers?q=a+b%26c%2Bd%25e%23f"
        await rows(queue.operator, "pause", "default", by="ada")
        links = {row["reason"]: row["link"] for row in await rows(queue.operator, "explain", parked)}
        assert links["queue_paused"] == "/queues/default"
