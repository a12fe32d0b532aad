"""Limits of a whole queue, and who shares it fairly."""

from __future__ import annotations

import asyncio
from collections import Counter
from uuid import UUID

import asyncpg
import pytest

from penstock.db import Connection
from tests.plugins.database import Database
from tests.sql.queue_calls import calls, rows, sessions


def tenant(number: int) -> UUID:
    return UUID(int=number)


async def test_concurrent_claims_never_exceed_the_queues_limit(database: Database) -> None:
    async with calls(database) as queue, sessions(database, 4) as opened:
        worker = await queue.worker()
        await queue.limit("queue", max_running=7)
        for number in range(3):
            await queue.enqueue_many(40, tenant_id=tenant(number))
        done = over = 0

        async def work(session: Connection) -> None:
            nonlocal done, over
            while done < 120:
                leases = await rows(session, "claim", worker, "default", 5)
                over += await session.fetchval("select running from queues.stats('default')") > 7
                if leases:
                    await rows(session, "complete", worker, [lease["lease_id"] for lease in leases])
                    done += len(leases)

        async with asyncio.timeout(60):
            await asyncio.gather(*(work(session) for session in opened))
        assert (done, over) == (120, 0)


async def test_a_full_queue_starts_as_many_as_end(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        await queue.limit("queue", max_running=5)
        for number in range(3):
            await queue.enqueue_many(10, tenant_id=tenant(number))
        running = await queue.claim(worker, 100)
        assert len(running) == 5
        assert await queue.claim(worker, 100) == []
        await queue.complete(worker, *running[:2])
        assert len(await queue.claim(worker, 100)) == 2


async def test_tasks_that_were_lost_or_failed_leave_room_again(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        await queue.limit("queue", max_running=1)
        await queue.enqueue_many(2)
        await queue.fail(worker, await queue.claim_one(worker), retry_after=60)
        await queue.claim_one(worker)
        assert await queue.claim(worker, 1) == []
        await queue.lose()
        assert len(await queue.claim(await queue.worker(), 1)) == 1


@pytest.mark.parametrize(
    ("field", "arguments"),
    [
        ("scope", "'everything', _max_running => 1"),
        ("scope", "'key', _max_running => 1"),
        ("scope", "'queue', 'some key', _max_running => 1"),
        ("limit", "'queue', _max_running => 0"),
        ("limit", "'queue', _rate_count => 1"),
        ("limit", "'queue', _rate_period => '1 minute'"),
        ("limit", "'queue', _rate_count => -1, _rate_period => '1 minute'"),
    ],
)
async def test_an_invalid_limit_is_refused(database: Database, field: str, arguments: str) -> None:
    async with calls(database) as queue:
        with pytest.raises(asyncpg.PostgresError) as caught:
            await queue.operator.fetch(f"select queues.put_limits('default', {arguments})")
        assert (caught.value.sqlstate, caught.value.detail) == ("PS005", field)
        assert caught.value.hint
        assert await rows(queue.operator, "limits") == []


async def test_ten_tasks_of_one_tenant_do_not_wait_for_a_hundred_thousand_of_another(
    database: Database,
) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        await queue.runtime.execute(
            """
            select queues.enqueue_many('job', array_agg('{}'::jsonb), _tenant_id => $1)
            from generate_series(1, 100000)
            """,
            tenant(1),
        )
        tasks = await queue.enqueue_many(10, tenant_id=tenant(2))
        assert len(tasks) == 10
        claimed = await queue.claim(worker, 20)
        assert Counter(lease["tenant_id"] for lease in claimed) == {tenant(1): 10, tenant(2): 10}


async def test_fifty_tenants_share_each_claim(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        for number in range(50):
            await queue.enqueue_many(40, tenant_id=tenant(number))
        shares: Counter[UUID] = Counter()
        for _ in range(10):
            shares.update(lease["tenant_id"] for lease in await queue.claim(worker, 100))
        assert shares == {tenant(number): 20 for number in range(50)}


async def test_the_remainder_of_a_claim_goes_to_a_different_tenant_each_time(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        for number in range(6):
            await queue.enqueue_many(200, tenant_id=tenant(number))
        shares: Counter[UUID] = Counter()
        for _ in range(60):
            shares.update(lease["tenant_id"] for lease in await queue.claim(worker, 10))
        assert shares.total() == 600
        assert min(shares.values()) > 80, shares


async def test_more_tenants_than_a_claim_takes_get_their_turn(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        for number in range(60):
            await queue.enqueue_many(2, tenant_id=tenant(number))
        assert [len(await queue.claim(worker, 7)) for _ in range(18)] == [7] * 17 + [1]


async def test_rows_another_claim_has_locked_do_not_hide_a_free_one(database: Database) -> None:
    async with calls(database) as queue, sessions(database, 1) as (other,):
        worker = await queue.worker()
        for number in range(8):
            await queue.enqueue(tenant_id=tenant(number))
        async with other.transaction():
            assert len(await rows(other, "claim", worker, "default", 7)) == 7
            assert len(await queue.claim(worker, 1)) == 1
