"""What operators do to a queue or a task: pause, resume, cancel in every state, run now."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import asyncpg
import pytest

from tests.plugins.database import Database
from tests.sql.queue_calls import Calls, calls, rows, value


async def cancel(queue: Calls, task: int) -> str:
    answer: str = await value(queue.operator, "cancel_task", task, "no longer wanted")
    return answer


async def test_nothing_is_claimed_from_a_paused_queue_until_it_is_resumed(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        task = await queue.enqueue()
        await queue.clock.advance(seconds=1)
        await rows(queue.operator, "pause", "default")
        await rows(queue.operator, "pause", "default")
        assert await queue.claim(worker, 10) == []
        later = await queue.enqueue(unique_key="k")
        assert await value(queue.runtime, "next_due", "default") is None
        await rows(queue.operator, "resume", "default")
        assert await queue.claimed_ids(worker) == [task, later]
        assert len(await queue.audits("pause")) == 2
        assert [row["actor"] for row in await queue.audits("resume")] == ["penstock_operator"]


async def test_running_tasks_continue_while_their_queue_is_paused(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        await queue.enqueue()
        lease = await queue.claim_one(worker)
        await rows(queue.operator, "pause", "default")
        assert await queue.complete(worker, lease) == [lease["lease_id"]]


async def test_a_resumed_queue_wakes_its_workers(database: Database) -> None:
    async with calls(database) as queue:
        heard: asyncio.Queue[str] = asyncio.Queue()
        await queue.runtime.add_listener("penstock_ready", lambda *event: heard.put_nowait(str(event[3])))
        await rows(queue.operator, "pause", "default")
        await rows(queue.operator, "resume", "default")
        queue_id = await queue.admin.fetchval(
            "select queue_id from queues.queue where queue_name = 'default'"
        )
        assert await asyncio.wait_for(heard.get(), 10) == f"{queue_id}:due"


@pytest.mark.parametrize("call", ["pause", "resume"])
async def test_an_unknown_queue_is_refused(database: Database, call: str) -> None:
    async with calls(database) as queue:
        with pytest.raises(asyncpg.PostgresError) as caught:
            await rows(queue.operator, call, "no such queue")
        assert (caught.value.sqlstate, caught.value.detail) == ("PS002", "queue")


@pytest.mark.parametrize("place", ["ready", "admitted", "waiting", "retrying", "returned", "parked", "keyed"])
async def test_a_task_that_is_not_running_is_cancelled_at_once(database: Database, place: str) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        await queue.limit(max_running=1)
        match place:
            case "admitted" | "waiting":
                task = await queue.enqueue(delay=timedelta(seconds=10))
            case "keyed":
                task = await queue.enqueue(unique_key="k", limit_key="a")
            case "parked":
                await queue.enqueue(limit_key="a")
                await queue.claim_one(worker)
                task = await queue.enqueue(limit_key="a")
            case _:
                task = await queue.enqueue()
        if place in ("retrying", "returned"):
            after = 60 if place == "retrying" else 0
            await queue.fail(worker, await queue.claim_one(worker), retry_after=after)
        if place == "admitted":
            await queue.clock.advance(seconds=11)
        await queue.admit()
        before = {"admitted": "ready", "retrying": "waiting", "returned": "ready", "keyed": "ready"}.get(
            place, place
        )
        assert await queue.state(task) == before

        assert await cancel(queue, task) == "cancelled"
        assert await queue.state(task) == "cancelled"
        await queue.clock.advance(minutes=2)
        assert await queue.claim(worker, 10) == []
        assert await cancel(queue, task) == "ended"
        assert [row["subject"] for row in await queue.audits("cancel")] == [str(task)]


async def test_cancelling_the_holder_of_a_key_lets_the_next_one_run(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        await queue.limit(max_running=1)
        first, second = await queue.enqueue_many(2, limit_keys=["a", "a"], unique_keys=["k", "l"])
        await queue.admit()
        assert [await queue.state(task) for task in (first, second)] == ["ready", "parked"]
        await cancel(queue, first)
        assert await queue.claimed_ids(worker) == [second]
        again = await queue.enqueue(unique_key="k")
        assert await queue.claimed_ids(worker) == [again]


async def test_a_running_task_is_asked_to_stop_with_the_next_heartbeat(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        task = await queue.enqueue(unique_key="k")
        lease = await queue.claim_one(worker)
        heard: asyncio.Queue[str] = asyncio.Queue()
        await queue.runtime.add_listener("penstock_cancel", lambda *event: heard.put_nowait(str(event[3])))
        assert await rows(queue.runtime, "beat", worker) == []
        assert await cancel(queue, task) == "requested"
        assert await asyncio.wait_for(heard.get(), 10) == str(worker)
        assert [tuple(row) for row in await rows(queue.runtime, "beat", worker)] == [
            (lease["lease_id"], "no longer wanted")
        ]
        assert await queue.reasons(task) == ["running", "cancel_requested"]
        assert await queue.close("close_cancelled", worker, lease) == [lease["lease_id"]]
        assert await queue.state(task) == "cancelled"
        assert await rows(queue.runtime, "beat", worker) == []
        again = await queue.enqueue(unique_key="k")
        assert await queue.claimed_ids(worker) == [again]


@pytest.mark.parametrize("how", ["fail", "lose", "snooze", "release", "stop_worker"])
async def test_a_task_asked_to_stop_never_runs_again(database: Database, how: str) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        task = await queue.enqueue(unique_key="k")
        lease = await queue.claim_one(worker)
        assert await cancel(queue, task) == "requested"
        match how:
            case "fail":
                assert (await queue.fail(worker, lease))["outcome"] == "cancelled"
            case "lose":
                assert [row["outcome"] for row in await queue.lose()] == ["cancelled"]
            case "snooze":
                assert await queue.close("snooze", worker, lease, [0.0]) == [lease["lease_id"]]
            case "release":
                assert await queue.close("release", worker, lease) == [lease["lease_id"]]
            case _:
                assert await value(queue.runtime, "stop_worker", worker) == 1
        assert await queue.state(task) == "cancelled"
        await queue.clock.advance(minutes=10)
        worker = await queue.worker()
        again = await queue.enqueue(unique_key="k")
        assert await queue.claimed_ids(worker) == [again]
        assert await queue.count("cancel") == 0


async def test_a_second_request_reaches_the_worker_that_runs_the_task_now(database: Database) -> None:
    async with calls(database) as queue:
        first = await queue.worker()
        task = await queue.enqueue()
        lease = await queue.claim_one(first)
        # the request and the end of the run cross: the request is written after the run was failed
        await queue.fail(first, lease, retry_after=0)
        await queue.admin.execute(
            "insert into queues.cancel values ($1, $2, $3, 'late', now(), 'operator')",
            task,
            first,
            lease["lease_id"],
        )
        second = await queue.worker()
        running = await queue.claim_one(second)
        assert await cancel(queue, task) == "requested"
        assert [row["lease_id"] for row in await rows(queue.runtime, "beat", second)] == [running["lease_id"]]


async def test_a_cancelled_task_that_completed_first_stays_completed(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        task = await queue.enqueue()
        lease = await queue.claim_one(worker)
        assert await cancel(queue, task) == "requested"
        assert await queue.complete(worker, lease) == [lease["lease_id"]]
        assert await queue.state(task) == "completed"
        assert await cancel(queue, task) == "ended"


async def test_cancelling_a_task_that_never_existed_is_refused(database: Database) -> None:
    async with calls(database) as queue:
        with pytest.raises(asyncpg.PostgresError) as caught:
            await cancel(queue, 4711)
        assert (caught.value.sqlstate, caught.value.detail) == ("PS007", "task_id")


async def test_run_now_makes_a_waiting_task_due(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        task = await queue.enqueue(delay=timedelta(days=1))
        assert await value(queue.operator, "run_now", task) is True
        assert await queue.claimed_ids(worker) == [task]
        assert await value(queue.operator, "run_now", task) is False
        assert [row["subject"] for row in await queue.audits("run_now")] == [str(task)]


async def test_run_now_ends_a_back_off(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        task = await queue.enqueue()
        await queue.fail(worker, await queue.claim_one(worker), retry_after=3600)
        assert await value(queue.operator, "run_now", task) is True
        lease = await queue.claim_one(worker)
        assert (lease["task_id"], lease["failures"]) == (task, 1)
