"""What people see: why a task does not run, one task in full, lists, counts."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta
from urllib.parse import urlsplit

import asyncpg
import pytest

from penstock.db import Record
from tests.plugins.database import Database
from tests.sql.queue_calls import calls, rows, value


async def test_explain_says_that_no_worker_serves_the_queue(database: Database) -> None:
    async with calls(database) as queue:
        task = await queue.enqueue()
        assert await queue.reasons(task) == ["no_worker", "in_line"]
        await queue.worker()
        assert await queue.reasons(task) == ["in_line"]
        await queue.clock.advance(seconds=31)
        assert await queue.reasons(task) == ["no_worker", "in_line"]


async def test_explain_names_the_queue_that_is_paused(database: Database) -> None:
    async with calls(database) as queue:
        await queue.worker()
        task = await queue.enqueue()
        await rows(queue.operator, "pause", "default")
        reason = (await rows(queue.runtime, "explain", task))[0]
        assert reason["reason"] == "queue_paused"
        assert "default" in reason["explanation"]
        assert reason["remedy"] == "penstock queue resume default"


async def test_explain_counts_who_is_before_a_task(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker(lease_seconds=10000)
        returned = await queue.enqueue_many(2)
        for lease in await queue.claim(worker, 2):
            await queue.fail(worker, lease, retry_after=0)
        await queue.enqueue_many(3)
        delayed = await queue.enqueue(delay=timedelta(seconds=1))
        last = await queue.enqueue()
        await queue.clock.advance(seconds=2)
        await queue.admit()
        for task, said in (
            (last, "It is ready; 3 tasks of its lane are ahead of it."),
            (delayed, "It is ready; 4 tasks of its lane are ahead of it."),
            (returned[0], "It is ready, and the next of its lane."),
            (returned[1], "It is ready; 1 task of its lane is ahead of it."),
        ):
            (line,) = await rows(queue.runtime, "explain", task)
            assert (line["reason"], line["explanation"]) == ("in_line", said)


async def test_explain_says_when_a_waiting_task_is_due(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker(lease_seconds=10000)
        task = await queue.enqueue()
        await queue.fail(worker, await queue.claim_one(worker), retry_after=90)
        (reason,) = await rows(queue.runtime, "explain", task)
        assert reason["reason"] == "not_due"
        assert "in 00:01:30" in reason["explanation"]
        assert "failed once" in reason["explanation"]
        await queue.clock.advance(seconds=90)
        assert await queue.reasons(task) == ["admission"]


async def test_explain_names_who_holds_the_key(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        await queue.limit(max_running=1)
        holder, behind = await queue.enqueue_many(2, limit_keys=["a", "a"])
        lease = await queue.claim_one(worker)
        (reason,) = await rows(queue.runtime, "explain", behind)
        assert reason["reason"] == "key_held"
        assert f"task {holder} " in reason["explanation"]
        # closed, but not yet handed over
        await queue.complete(worker, lease)
        assert "admission" in await queue.reasons(behind)


async def test_explain_says_that_a_rate_is_used_up(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        await queue.limit(rate_count=1, rate_period=timedelta(minutes=1))
        _, behind = await queue.enqueue_many(2, limit_keys=["a", "a"])
        lease = await queue.claim_one(worker)
        assert "key_rate" in await queue.reasons(behind)
        await queue.complete(worker, lease)
        await queue.claim(worker, 1)
        assert await queue.reasons(behind) == ["key_rate"]


async def test_explain_says_that_the_queue_is_full_or_its_rate_used_up(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        await queue.limit("queue", max_running=1, rate_count=1, rate_period=timedelta(minutes=1))
        _, behind = await queue.enqueue_many(2)
        lease = await queue.claim_one(worker)
        assert await queue.reasons(behind) == ["queue_full", "queue_rate", "in_line"]
        full = (await rows(queue.runtime, "explain", behind))[0]
        assert full["explanation"] == "1 task of the queue is running, and its limit is 1."
        await queue.complete(worker, lease)
        assert await queue.reasons(behind) == ["queue_rate", "in_line"]


async def test_explain_says_which_worker_runs_a_task_and_whether_it_is_lost(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker(name="mill-7")
        task = await queue.enqueue()
        await queue.claim_one(worker)
        (reason,) = await rows(queue.runtime, "explain", task)
        assert reason["reason"] == "running"
        assert "mill-7" in reason["explanation"]
        await queue.admin.execute(
            "update queues.worker set lost_at = internal.clock() where worker_id = $1", worker
        )
        assert await queue.reasons(task) == ["running", "worker_lost"]


async def test_explain_says_how_a_task_ended(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        dead = await queue.die(worker, message="no disk")
        task = await queue.enqueue()
        await queue.complete(worker, await queue.claim_one(worker))
        assert await queue.reasons(task) == ["ended"]
        (reason,) = await rows(queue.runtime, "explain", dead)
        assert (reason["reason"], reason["remedy"]) == (
            "dead",
            f"Fix the cause, then: penstock dead replay {dead}",
        )
        assert "after 1 failed attempt and 0 lost workers: Error: no disk" in reason["explanation"]


@pytest.mark.parametrize("call", ["explain", "show_task", "show_dead"])
async def test_showing_a_task_that_never_existed_is_refused(database: Database, call: str) -> None:
    async with calls(database) as queue:
        with pytest.raises(asyncpg.PostgresError) as caught:
            await rows(queue.runtime, call, 4711)
        assert (caught.value.sqlstate, caught.value.detail) == ("PS007", "task_id")
        assert caught.value.hint


async def test_show_task_shows_its_whole_history(database: Database) -> None:
    async with calls(database) as queue:
        tenant = "00000000-0000-0000-0000-00000000000a"
        task = await queue.enqueue({"n": 1}, tenant_id=tenant, unique_key="k", priority=3)
        worker = await queue.worker(name="mill-7", lease_seconds=10000)
        await queue.fail(worker, await queue.claim_one(worker), "Busy", "try later", retry_after=60)
        waits = await queue.shown(task)
        assert (waits["state"], waits["lease"]) == ("waiting", None)
        assert waits["due_at"] is not None
        await queue.clock.advance(seconds=60)
        lease = await queue.claim_one(worker)
        shown = await queue.shown(task)
        assert {
            key: shown[key] for key in ("task_id", "task_type", "state", "queue", "priority", "tenant_id")
        } == {
            "task_id": task,
            "task_type": "job",
            "state": "running",
            "queue": "default",
            "priority": 3,
            "tenant_id": tenant,
        }
        assert (shown["payload"], shown["has_unique_key"], shown["has_limit_key"]) == ({"n": 1}, True, False)
        assert (shown["lease"]["lease_id"], shown["lease"]["worker"]) == (lease["lease_id"], "mill-7")
        assert [(a["attempt"], a["outcome"]) for a in shown["attempts"]] == [(1, "failed")]
        assert [(e["attempt"], e["error_code"], e["error_message"]) for e in shown["errors"]] == [
            (1, "Busy", "try later")
        ]


async def test_tasks_are_listed_by_state_queue_and_type(database: Database) -> None:
    async with calls(database) as queue:
        await queue.put_type("other")
        await queue.limit(max_running=1)
        worker = await queue.worker("default", "reports")
        dead = await queue.die(worker)
        done, running, parked = [await queue.enqueue(limit_key=key) for key in ("c", "a", "a")]
        leases = {lease["task_id"]: lease for lease in await queue.claim(worker, 10)}
        await queue.complete(worker, leases[done])
        waiting = await queue.enqueue(delay=timedelta(days=1))
        ready = await queue.enqueue_many(3)
        report = await queue.enqueue(queue="reports", task_type="other")

        async def listed(**filter_: object) -> list[int]:
            return [row["task_id"] for row in await rows(queue.runtime, "list_tasks", **filter_)]

        assert await listed() == [running]
        assert await listed(state="completed") == [done]
        assert await listed(state="dead") == [dead]
        assert await listed(state="parked") == [parked]
        preview = "select all_tenants.preview_operation('dead.replay', $1) ->> 'count'"
        counted = [
            await queue.operator.fetchval(preview, json.dumps({"queue": name}))
            for name in ("default", "reports", "unknown")
        ]
        assert counted == ["1", "0", "0"], "dead letters of one queue"
        assert await listed(state="waiting") == [waiting]
        assert sorted(await listed(state="ready")) == [*ready, report]
        assert await listed(state="ready", queue="reports") == [report]
        assert await listed(state="ready", task_type="job", limit=2) == ready[:2]
        with pytest.raises(asyncpg.PostgresError) as caught:
            await listed(state="lazy")
        assert (caught.value.sqlstate, caught.value.detail) == ("PS005", "state")


async def test_stats_count_each_queue(database: Database) -> None:
    async with calls(database) as queue:
        await queue.limit(max_running=1)
        await queue.limit("queue", max_running=9, rate_count=100, rate_period=timedelta(minutes=1))
        worker = await queue.worker("default", "reports")
        await rows(queue.runtime, "go_idle", worker, "default", True)
        await queue.die(worker)
        await queue.enqueue_many(2, limit_keys=["a", "a"])
        await queue.claim(worker, 10)
        await queue.enqueue_many(3)
        await queue.enqueue(delay=timedelta(days=1))
        await queue.clock.advance(seconds=7)
        (row,) = await rows(queue.runtime, "stats", "default")
        assert dict(row) == {
            "queue": "default",
            "paused": False,
            "ready": 3,
            "running": 1,
            "waiting": 1,
            "parked": 1,
            "dead": 1,
            "oldest_ready_seconds": 7.0,
            "max_running": 9,
            "rate": "100 per 00:01:00",
            "workers": 1,
            "idle_workers": 1,
        }
        names = [stat["queue"] for stat in await rows(queue.runtime, "stats")]
        assert names == sorted(names)
        assert {"default", "reports"} <= set(names)


async def test_sessions_that_pin_the_horizon_can_be_seen(database: Database) -> None:
    async with calls(database) as queue:
        async with database.connect("admin", name="forgotten") as reader:
            async with reader.transaction(isolation="repeatable_read"):
                pid = await reader.fetchval("select pg_backend_pid()")
                pins: dict[int, Record] = {}
                async with asyncio.timeout(10):
                    while pid not in pins:  # it must pin for a second before it is worth a line
                        pins = {row["pid"]: row for row in await rows(queue.operator, "horizon_pins")}
                assert pins[pid]["kind"] == "session"
                assert "forgotten" in pins[pid]["who"]


async def test_sessions_of_another_database_are_not_shown(database: Database) -> None:
    async with calls(database) as queue:
        parts = urlsplit(database.admin_url)
        elsewhere = await asyncpg.connect(parts._replace(path="/postgres").geturl())
        async with database.connect("admin", name="here") as reader:
            try:
                await elsewhere.execute(
                    "begin isolation level repeatable read; select 'other people''s text'"
                )
                stranger = await elsewhere.fetchval("select pg_backend_pid()")
                async with reader.transaction(isolation="repeatable_read"):
                    ours = await reader.fetchval("select pg_backend_pid()")
                    pins: set[int] = set()
                    async with asyncio.timeout(10):
                        while ours not in pins:  # the other began before, so it is past its second too
                            pins = {row["pid"] for row in await rows(queue.operator, "horizon_pins")}
                    assert stranger not in pins
            finally:
                await elsewhere.close()


async def test_the_audit_of_invariants_sees_a_task_in_two_places(database: Database) -> None:
    async with calls(database) as queue:
        task = await queue.enqueue()
        transaction = queue.admin.transaction()
        await transaction.start()
        await queue.admin.execute(
            "insert into queues.ready select lane, seq + 1000, task_id, 0, 0, 0 from queues.ready"
        )
        await queue.admin.execute("insert into queues.parked select '\\x00', 0, 1, 4711, 0, 1, 0, 0, 0")
        broken = {row["promise"] for row in await rows(queue.admin, "audit_invariants")}
        assert broken == {
            "a task is in one place",
            "a pending task has its row",
            "a parked task has a reason to wait",
        }
        await transaction.rollback()
        assert await value(queue.runtime, "task_state", task) == "ready"
