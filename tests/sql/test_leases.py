"""Leases: heartbeats keep them, silence loses them, and a worker that lost one can close nothing."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import asyncpg
import pytest

from tests.plugins.database import Database
from tests.sql.queue_calls import calls, rows, sessions, value


async def test_a_beat_renews_all_leases_of_a_worker(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        await queue.enqueue_many(3)
        leases = await queue.claim(worker, 3)
        for _ in range(5):
            await queue.clock.advance(seconds=29)
            await rows(queue.runtime, "beat", worker)
            assert await rows(queue.runtime, "rescue") == []
        assert len(await queue.complete(worker, *leases)) == 3


async def test_a_silent_workers_tasks_go_to_another(database: Database) -> None:
    async with calls(database) as queue:
        silent = await queue.worker()
        alive = await queue.worker(lease_seconds=3600)
        tasks = await queue.enqueue_many(3)
        await queue.claim(silent, 3)
        assert await queue.lose(seconds=30) == []
        rescued = await queue.lose(seconds=1)
        assert sorted(row["task_id"] for row in rescued) == tasks
        assert {(row["worker_id"], row["outcome"]) for row in rescued} == {(silent, "returned")}
        assert sorted(await queue.claimed_ids(alive)) == tasks


async def test_stale_worker_cannot_complete_a_reclaimed_task(database: Database) -> None:
    async with calls(database) as queue:
        stale, fresh = await queue.worker(), await queue.worker(lease_seconds=3600)
        task = await queue.enqueue()
        lost = await queue.claim_one(stale)
        await queue.lose()
        held = await queue.claim_one(fresh)
        assert await queue.complete(stale, lost) == []
        assert await queue.close("release", stale, lost) == []
        assert await queue.close("snooze", stale, lost, [1.0]) == []
        assert await queue.close("close_cancelled", stale, lost) == []
        assert await value(queue.runtime, "extend", stale, lost["lease_id"], 60.0) is False
        assert await value(queue.runtime, "holds", stale, lost["lease_id"]) is False
        assert await queue.state(task) == "running"
        assert await queue.complete(fresh, held) == [held["lease_id"]]
        assert await queue.outcomes(task) == ["lost", "completed"]


async def test_a_completion_with_the_wrong_worker_closes_nothing(database: Database) -> None:
    async with calls(database) as queue:
        one, other = await queue.worker(), await queue.worker()
        await queue.enqueue()
        lease = await queue.claim_one(one)
        assert await queue.complete(other, lease) == []
        assert await queue.complete(one, lease) == [lease["lease_id"]]
        assert await queue.complete(one, lease) == []


@pytest.mark.parametrize("how", ["complete", "release", "close_cancelled", "snooze"])
async def test_a_close_names_the_task_of_each_lease(database: Database, how: str) -> None:
    """A crash can take back lease ids: then a late close names the right leases with other tasks."""
    async with calls(database) as queue:
        worker = await queue.worker()
        await queue.enqueue_many(2)
        claimed = await queue.claim(worker, 2)
        leases, tasks = [[lease[name] for lease in claimed] for name in ("lease_id", "task_id")]
        more = {"seconds": [0.0, 0.0]} if how == "snooze" else {}
        wrong = await value(queue.runtime, how, worker, leases, task_ids=tasks[::-1], **more)
        assert (wrong, await queue.count("lease")) == ([], 2)
        right = await value(queue.runtime, how, worker, leases[::-1], task_ids=tasks[::-1], **more)
        assert sorted(right) == sorted(leases)


async def test_a_lost_lease_rolls_the_handlers_writes_back(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        await queue.enqueue()
        lease = await queue.claim_one(worker)
        await queue.lose()
        await queue.runtime.execute("begin")
        written = await queue.enqueue({"written": "by the handler"})
        with pytest.raises(asyncpg.PostgresError) as caught:
            await rows(queue.runtime, "complete_here", worker, lease["lease_id"])
        await queue.runtime.execute("commit")  # of a transaction that failed: nothing of it stays
        assert (caught.value.sqlstate, caught.value.detail) == ("PS006", "lease_id")
        assert caught.value.hint
        assert await queue.count("task", f"task_id = {written}") == 0


async def test_a_handlers_writes_and_its_close_commit_together(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        task = await queue.enqueue()
        lease = await queue.claim_one(worker)
        async with queue.runtime.transaction():
            written = await queue.enqueue()
            await rows(queue.runtime, "complete_here", worker, lease["lease_id"])
            assert await queue.count("lease") == 1
        assert (await queue.state(task), await queue.state(written)) == ("completed", "ready")


async def test_rescue_leaves_a_lease_that_is_being_completed(database: Database) -> None:
    async with calls(database) as queue, sessions(database, 1) as (closer,):
        worker = await queue.worker()
        tasks = await queue.enqueue_many(2)
        closing, silent = await queue.claim(worker, 2)
        async with closer.transaction():
            await rows(closer, "complete_here", worker, closing["lease_id"])
            rescued = await asyncio.wait_for(queue.lose(), 10)
            assert [row["task_id"] for row in rescued] == [silent["task_id"]]
        assert sorted([closing["task_id"], silent["task_id"]]) == tasks
        assert await rows(queue.runtime, "rescue") == []
        assert await queue.state(closing["task_id"]) == "completed"


async def test_rescue_takes_a_lease_whose_completion_was_rolled_back(database: Database) -> None:
    async with calls(database) as queue, sessions(database, 1) as (closer,):
        worker = await queue.worker()
        task = await queue.enqueue()
        lease = await queue.claim_one(worker)
        transaction = closer.transaction()
        await transaction.start()
        await rows(closer, "complete_here", worker, lease["lease_id"])
        assert await queue.lose() == []
        await transaction.rollback()
        assert [row["task_id"] for row in await rows(queue.runtime, "rescue")] == [task]


async def test_a_frozen_transaction_does_not_block_the_rescue_of_the_other_nine(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        await queue.enqueue_many(10)
        leases = await queue.claim(worker, 10)
        async with database.connect("admin") as frozen, frozen.transaction():
            locked = "select from queues.lease where lease_id = $1 for update"
            await frozen.fetch(locked, leases[4]["lease_id"])
            assert len(await asyncio.wait_for(queue.lose(), 10)) == 9
        assert len(await rows(queue.runtime, "rescue")) == 1


async def test_a_worker_declared_lost_is_refused_until_it_registers_again(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        await queue.enqueue()
        await queue.lose()
        for call in (("beat", worker), ("claim", worker, "default", 1), ("beat", 4711)):
            with pytest.raises(asyncpg.PostgresError) as caught:
                await rows(queue.runtime, *call)
            assert (caught.value.sqlstate, caught.value.detail) == ("PS009", "worker_id")
            assert caught.value.hint
        assert len(await queue.claim(await queue.worker(), 1)) == 1


async def test_a_stopped_worker_hands_its_leases_back_uncharged(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        await queue.enqueue_many(2)
        await queue.claim(worker, 2)
        await rows(queue.runtime, "go_idle", worker, "default", True)
        assert await value(queue.runtime, "stop_worker", worker) == 2
        assert await queue.count("idle") == 0
        leases = await queue.claim(await queue.worker(), 2)
        assert [(lease["failures"], lease["losses"]) for lease in leases] == [(0, 0), (0, 0)]
        assert worker not in [row["worker_id"] for row in await rows(queue.operator, "workers")]


async def test_a_task_past_its_own_deadline_is_taken_from_a_worker_that_still_sends_heartbeats(
    database: Database,
) -> None:
    async with calls(database) as queue:
        worker = await queue.worker(lease_seconds=3600)
        task = await queue.enqueue(time_limit=timedelta(seconds=60))
        other = await queue.enqueue()
        leases = await queue.claim(worker, 2)
        assert [lease["time_limit"] for lease in leases] == [60, None]
        assert await queue.lose(seconds=90) == []
        assert [(row["task_id"], row["outcome"]) for row in await queue.lose(seconds=1)] == [
            (task, "returned")
        ]
        assert await queue.complete(worker, *leases) == [leases[1]["lease_id"]]
        assert await queue.state(other) == "completed"


async def test_a_types_time_limit_holds_for_tasks_that_bring_none(database: Database) -> None:
    async with calls(database) as queue:
        await queue.put_type(time_limit=timedelta(seconds=5))
        worker = await queue.worker()
        await queue.enqueue()
        assert (await queue.claim_one(worker))["time_limit"] == 5


async def test_an_extended_lease_lasts_that_long_from_now(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker(lease_seconds=3600)
        await queue.enqueue(time_limit=timedelta(seconds=60))
        lease = await queue.claim_one(worker)
        await queue.clock.advance(seconds=80)
        assert await value(queue.runtime, "extend", worker, lease["lease_id"], 100.0) is True
        assert await queue.lose(seconds=100) == []
        assert len(await queue.lose(seconds=1)) == 1
        with pytest.raises(asyncpg.PostgresError) as caught:
            await rows(queue.runtime, "extend", worker, lease["lease_id"], 0.0)
        assert (caught.value.sqlstate, caught.value.detail) == ("PS005", "seconds")


async def test_extending_a_lease_without_a_deadline_gives_it_none(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker(lease_seconds=3600)
        await queue.enqueue()
        lease = await queue.claim_one(worker)
        assert await value(queue.runtime, "extend", worker, lease["lease_id"], 1.0) is True
        assert await queue.lose(seconds=60) == []


async def test_a_lease_shorter_than_the_heartbeat_interval_is_refused(database: Database) -> None:
    async with calls(database) as queue:
        with pytest.raises(asyncpg.PostgresError) as caught:
            await queue.worker(lease_seconds=0.05)
        assert (caught.value.sqlstate, caught.value.detail) == ("PS005", "lease_for")


async def test_a_worker_finds_leases_of_a_claim_whose_answer_was_lost(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        await queue.enqueue()
        lease = await queue.claim_one(worker)
        assert await value(queue.runtime, "open_leases", worker) == []
        await queue.clock.advance(seconds=6)
        assert await value(queue.runtime, "open_leases", worker) == [lease["lease_id"]]


async def test_a_worker_gets_one_task_at_a_time_that_two_workers_were_lost_with(database: Database) -> None:
    async with calls(database) as queue:
        suspects = await queue.enqueue_many(3)
        for _ in range(2):
            await queue.claim(await queue.worker(), 3)
            assert len(await queue.lose()) == 3
        [innocent] = await queue.enqueue_many(1)
        worker = await queue.worker(lease_seconds=3600)
        other = await queue.worker(lease_seconds=3600)
        first = await queue.claim(worker, 10)
        assert sorted(lease["task_id"] for lease in first) == [min(s["task_id"] for s in first), innocent]
        assert await queue.claim(worker, 10) == []
        waiting = next(
            task for task in suspects if task != first[0]["task_id"] and task != first[-1]["task_id"]
        )
        assert "suspect" in await queue.reasons(waiting)
        second = await queue.claim(other, 10)
        assert len(second) == 1
        await queue.complete(worker, *first)
        assert len(await queue.claim(worker, 10)) == 1
        assert await queue.count("dead_letter") == 0


async def test_a_waiting_suspect_can_be_cancelled(database: Database) -> None:
    async with calls(database) as queue:
        [task] = await queue.enqueue_many(1)
        for _ in range(2):
            await queue.claim(await queue.worker(), 1)
            await queue.lose()
        assert await queue.state(task) == "ready"
        assert await value(queue.operator, "cancel_task", task) == "cancelled"
        assert await queue.state(task) == "cancelled"


async def test_a_reused_lease_id_closes_no_other_task(database: Database) -> None:
    """As after a crash that lost commits, or a failover to a replica that lagged: the sequence goes back."""
    async with calls(database) as queue:
        worker = await queue.worker()
        lost, other = await queue.enqueue_many(2)
        stale = await queue.claim_one(worker)
        assert stale["task_id"] == lost
        await queue.admin.execute("delete from queues.lease")
        await queue.admin.execute("select setval('queues.lease_id_seq', $1, false)", stale["lease_id"])
        fresh = await queue.claim_one(worker)
        assert (fresh["lease_id"], fresh["task_id"]) == (stale["lease_id"], other)

        ids, tasks = [stale["lease_id"]], [lost]
        assert await value(queue.runtime, "complete", worker, ids, tasks) == []
        assert await value(queue.runtime, "release", worker, ids, tasks) == []
        assert await value(queue.runtime, "snooze", worker, ids, [1.0], tasks) == []
        assert await value(queue.runtime, "close_cancelled", worker, ids, ["no"], tasks) == []
        [verdict] = await rows(queue.runtime, "fail", worker, ids, ["E"], ["m"], task_ids=tasks)
        assert verdict["outcome"] == "gone"
        with pytest.raises(asyncpg.PostgresError) as caught:
            await value(queue.runtime, "complete_here", worker, ids[0], lost)
        assert caught.value.sqlstate == "PS006"
        assert await queue.state(other) == "running"
        assert await value(queue.runtime, "complete", worker, ids, [other]) == ids
