"""Stopping a tenant's lanes and erasing what the queue keeps of it: nothing is added later."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta
from typing import cast
from uuid import UUID

import asyncpg
import pytest

from penstock.db import Record
from penstock.model import uuid7
from tests.plugins.database import Database
from tests.plugins.workers import eventually
from tests.sql.queue_calls import Calls, calls, rows, value
from tests.sql.two_sessions import until_it_waits

SPARED = "account-deletion"
TABLES = ("task", "waiting", "parked", "lease", "attempt", "error", "dead_letter", "task_kept")


async def stop(queue: Calls, tenant: UUID, spared: str = SPARED) -> int:
    return cast("int", await queue.admin.fetchval("select queues.stop_tenant($1, $2)", tenant, spared))


async def stopped(queue: Calls, tenant: UUID) -> None:
    """Stop a tenant and wait until nothing of it is in progress; other databases may delay that."""
    await stop(queue, tenant)

    async def nothing_left() -> bool:
        return await stop(queue, tenant) == 0

    await eventually(nothing_left, what="nothing of the tenant is in progress")


async def erase(queue: Calls, tenant: UUID) -> dict[str, int]:
    answer: dict[str, int] = json.loads(await queue.admin.fetchval("select queues.erase_history($1)", tenant))
    return answer


async def kept_of(queue: Calls, tenant: UUID) -> dict[str, int]:
    """How many rows of each table are the tenant's, but for empty ones; the ready rows among them."""
    counts = {table: await queue.count(table, f"tenant_id = '{tenant}'") for table in TABLES}
    counts["ready"] = await queue.count(
        "ready", f"task_id in (select task_id from queues.task where tenant_id = '{tenant}')"
    )
    return {table: count for table, count in counts.items() if count}


async def test_a_stopped_tenant_accepts_tasks_only_in_the_exempt_queue(database: Database) -> None:
    async with calls(database) as queue:
        ours, theirs = uuid7(), uuid7()
        await stop(queue, ours)
        for options in (
            {},
            {"delay": timedelta(days=1)},
            {"unique_key": "k"},
            {"queue": "email"},
        ):
            with pytest.raises(asyncpg.PostgresError) as refused:
                await queue.enqueue(tenant_id=ours, **options)
            assert (refused.value.sqlstate, refused.value.detail) == ("PS017", "tenant_id")
            assert refused.value.hint
        spared = await queue.enqueue(tenant_id=ours, queue=SPARED)
        other = await queue.enqueue(tenant_id=theirs)
        nobodys = await queue.enqueue()
        assert await stop(queue, ours) >= 0
        worker = await queue.worker("default", SPARED)
        assert await queue.claimed_ids(worker) == [other, nobodys]
        assert await queue.claimed_ids(worker, queue=SPARED) == [spared]


async def test_ready_waiting_and_parked_tasks_are_deleted_and_other_tenants_rows_stay(
    database: Database,
) -> None:
    async with calls(database) as queue:
        ours, theirs = uuid7(), uuid7()
        for tenant in (ours, theirs):
            await queue.enqueue_many(3, tenant_id=tenant)
            await queue.enqueue(tenant_id=tenant, priority=0)
            await queue.enqueue(tenant_id=tenant, delay=timedelta(hours=1))
            await queue.enqueue(tenant_id=tenant, unique_key="k", on_duplicate="coalesce")
        worker = await queue.worker()
        keyed = [lease for lease in await queue.claim(worker, 100) if lease["held"]]
        assert len(keyed) == 2
        for tenant in (ours, theirs):
            await queue.enqueue_many(2, tenant_id=tenant)
            await queue.enqueue(tenant_id=tenant, unique_key="k", on_duplicate="coalesce")
        await queue.admit()
        before = await kept_of(queue, theirs)
        assert before == {"task": 9, "waiting": 1, "parked": 1, "lease": 5, "ready": 2}
        assert await kept_of(queue, ours) == before
        await stop(queue, ours)
        assert await stop(queue, ours) >= 5
        assert await kept_of(queue, ours) == {"task": 9, "lease": 5}
        assert await kept_of(queue, theirs) == before


async def test_the_slot_a_stopped_tenants_task_held_is_given_to_another(database: Database) -> None:
    async with calls(database) as queue:
        ours, theirs = uuid7(), uuid7()
        await queue.limit(max_running=1)
        await queue.enqueue(tenant_id=ours, limit_key="gateway")
        await queue.admit()
        other = await queue.enqueue(tenant_id=theirs, limit_key="gateway")
        await queue.admit()
        assert await queue.state(other) == "parked"
        await stop(queue, ours)
        await stop(queue, ours)
        worker = await queue.worker()
        assert await queue.claimed_ids(worker) == [other]


async def test_a_key_is_free_when_the_task_that_held_it_was_running(database: Database) -> None:
    async with calls(database) as queue:
        ours, theirs = uuid7(), uuid7()
        await queue.limit(max_running=1)
        worker = await queue.worker()
        await queue.enqueue(tenant_id=ours, limit_key="gateway")
        lease = await queue.claim_one(worker)
        other = await queue.enqueue(tenant_id=theirs, limit_key="gateway")
        await stop(queue, ours)
        assert await stop(queue, ours) >= 1
        assert await queue.claimed_ids(worker) == []
        assert await queue.close("close_cancelled", worker, lease) == [lease["lease_id"]]
        await stopped(queue, ours)
        assert await queue.claimed_ids(worker) == [other]


async def test_a_running_task_is_asked_to_stop_and_counted(database: Database) -> None:
    async with calls(database) as queue:
        ours = uuid7()
        worker = await queue.worker("default", SPARED)
        await queue.enqueue_many(2, tenant_id=ours)
        first, second = await queue.claim(worker, 10)
        await queue.enqueue(tenant_id=ours, queue=SPARED)
        await queue.claim_one(worker, SPARED)
        assert await stop(queue, ours) >= 3
        assert await stop(queue, ours) >= 2, "the spared queue's lease is not waited for"
        assert await queue.count("cancel") == 2
        told = await rows(queue.runtime, "beat", worker)
        assert told, "the worker hears of it"
        await queue.close("close_cancelled", worker, first)
        assert await stop(queue, ours) >= 1
        # One that does not hear it and fails: cancelled, and not tried again.
        assert (await queue.fail(worker, second))["outcome"] == "cancelled"
        await stopped(queue, ours)
        assert await kept_of(queue, ours) == {"task": 3, "lease": 1, "attempt": 3, "error": 1}


async def test_no_error_handler_runs_for_tasks_of_a_stopped_tenant(database: Database) -> None:
    async with calls(database) as queue:
        ours = uuid7()
        worker = await queue.worker("email")
        await queue.enqueue(
            {"error_handler": "comms.record_email_failure"}, task_type="email", tenant_id=ours
        )
        lease = await queue.claim_one(worker, "email")
        await stop(queue, ours)
        await stop(queue, ours)
        await queue.close("close_cancelled", worker, lease)
        await stopped(queue, ours)
        assert await kept_of(queue, ours) == {"task": 1, "attempt": 1}


async def test_a_transaction_that_may_not_have_seen_the_stop_is_waited_for(database: Database) -> None:
    async with calls(database) as queue, database.connect("runtime", name="producer") as producer:
        ours = uuid7()
        transaction = producer.transaction()
        await transaction.start()
        await value(producer, "enqueue", "job", {}, tenant_id=ours)
        await stop(queue, ours)
        for _ in range(3):
            assert await stop(queue, ours) == 1, "no lease is open, but a producer is not over"
        await transaction.commit()
        await stopped(queue, ours)
        assert await kept_of(queue, ours) == {"task": 1}, "what it enqueued does not run"
        assert await erase(queue, ours) == {"tasks": 1, "attempts": 0, "errors": 0, "dead_letters": 0}


async def test_a_producer_that_begins_before_the_stop_and_enqueues_after_it_is_refused(
    database: Database,
) -> None:
    async with calls(database) as queue, database.connect("runtime", name="producer") as producer:
        ours = uuid7()
        transaction = producer.transaction()
        await transaction.start()
        await producer.fetchval("select 1")
        await stop(queue, ours)
        with pytest.raises(asyncpg.PostgresError) as refused:
            await value(producer, "enqueue", "job", {}, tenant_id=ours)
        await transaction.rollback()
        assert refused.value.sqlstate == "PS017"


async def test_a_claim_in_progress_is_waited_for_and_then_counted(database: Database) -> None:
    async with calls(database) as queue, database.connect("runtime", name="claimer") as claimer:
        ours = uuid7()
        await queue.enqueue(tenant_id=ours)
        worker = await queue.worker()
        await stop(queue, ours)
        transaction = claimer.transaction()
        await transaction.start()
        assert len(await rows(claimer, "claim", worker, "default", 1)) == 1
        async with database.connect("admin", name="stopper") as stopper:
            waiting = asyncio.create_task(stopper.fetchval("select queues.stop_tenant($1, $2)", ours, SPARED))
            await until_it_waits(queue.admin, waiting, "stopper")
            await transaction.commit()
            assert await waiting >= 1
        assert await queue.count("cancel") == 1


async def test_history_is_not_erased_before_the_tenant_is_stopped_and_nothing_runs(
    database: Database,
) -> None:
    async with calls(database) as queue:
        ours = uuid7()
        worker = await queue.worker()
        await queue.enqueue(tenant_id=ours)
        lease = await queue.claim_one(worker)
        before = await kept_of(queue, ours)
        for expected in ("is not stopped", "are running", "are running"):
            with pytest.raises(asyncpg.PostgresError, match=expected) as refused:
                await erase(queue, ours)
            assert (refused.value.sqlstate, refused.value.detail) == ("PS011", "tenant_id")
            assert "stop_tenant" in str(refused.value.hint)
            assert await kept_of(queue, ours) == before
            await stop(queue, ours)
        await queue.complete(worker, lease)
        await stopped(queue, ours)
        assert (await erase(queue, ours))["tasks"] == 1


async def test_erasing_removes_everything_of_a_tenant_except_the_exempt_queue_and_nothing_of_another(
    database: Database,
) -> None:
    async with calls(database) as queue:
        ours, theirs = uuid7(), uuid7()
        worker = await queue.worker("default", SPARED)
        for tenant in (ours, theirs):
            await queue.die(worker, tenant_id=tenant, message="Anna's letter")
            await queue.enqueue_many(2, tenant_id=tenant)
            await queue.complete(worker, *await queue.claim(worker, 10))
            await queue.enqueue(tenant_id=tenant, delay=timedelta(hours=1))
        spared = await queue.enqueue(tenant_id=ours, queue=SPARED)
        spared_lease = await queue.claim_one(worker, SPARED)
        await queue.fail(worker, spared_lease, retry_after=0)
        before = await kept_of(queue, theirs)
        await stopped(queue, ours)
        assert await erase(queue, ours) == {"tasks": 4, "attempts": 3, "errors": 2, "dead_letters": 1}
        left = await kept_of(queue, ours)
        assert left.pop("ready", 0) + left.pop("waiting", 0) == 1, "the spared task is tried again"
        assert left == {"task": 1, "attempt": 1}, "what went wrong with it may hold more than ids"
        assert await kept_of(queue, theirs) == before
        await queue.clock.advance(minutes=10)
        worker = await queue.worker(SPARED)
        assert await queue.claimed_ids(worker, queue=SPARED) == [spared]
        assert await erase(queue, ours) == {"tasks": 0, "attempts": 0, "errors": 0, "dead_letters": 0}


@pytest.mark.parametrize("how", ["complete", "complete_here", "fail", "snooze", "release", "close_cancelled"])
async def test_a_close_that_comes_after_the_erasure_closes_nothing(database: Database, how: str) -> None:
    async with calls(database) as queue:
        ours = uuid7()
        worker = await queue.worker()
        await queue.enqueue(tenant_id=ours)
        lease = await queue.claim_one(worker)
        await stop(queue, ours)
        await stop(queue, ours)
        assert [row["outcome"] for row in await queue.lose()] == ["cancelled"]
        await stopped(queue, ours)
        await erase(queue, ours)
        await _close_late(queue, worker, lease, how)
        assert await kept_of(queue, ours) == {}
        assert await queue.count("attempt") == 0


async def _close_late(queue: Calls, worker: int, lease: Record, how: str) -> None:
    match how:
        case "complete_here":
            with pytest.raises(asyncpg.PostgresError) as refused:
                await rows(queue.runtime, how, worker, lease["lease_id"], lease["task_id"])
            assert refused.value.sqlstate == "PS006"
        case "fail":
            assert (await queue.fail(worker, lease))["outcome"] == "gone"
        case "snooze":
            assert await queue.close(how, worker, lease, [1.0]) == []
        case _:
            assert await queue.close(how, worker, lease) == []
