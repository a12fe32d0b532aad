"""Dead letters come back: by id, by filter, by fingerprint, each exactly once."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta

from tests.plugins.database import Database
from tests.sql.queue_calls import Calls, calls, rows, value

TENANT = "00000000-0000-0000-0000-00000000000a"


async def replay(queue: Calls, **named: object) -> list[int]:
    ids: list[int] = await value(queue.operator, "replay", **named)
    return sorted(ids)


async def test_a_replayed_task_runs_again_with_all_its_attempts(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        task = await queue.die(worker, payload={"document_id": 1})
        other = await queue.die(worker)
        assert await replay(queue, task_ids=[task]) == [task]
        lease = await queue.claim_one(worker)
        assert (lease["task_id"], lease["payload"], lease["failures"]) == (task, '{"document_id": 1}', 0)
        assert (await queue.fail(worker, lease))["outcome"] == "retry"
        assert await queue.state(other) == "dead"


async def test_a_replayed_task_runs_before_new_ones(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        task = await queue.die(worker)
        await queue.enqueue_many(5, priority=0)
        await replay(queue, task_ids=[task])
        assert await queue.claimed_ids(worker, 1) == [task]


async def test_a_filter_replays_what_its_preview_counted(database: Database) -> None:
    async with calls(database) as queue:
        await queue.put_type("other")
        worker = await queue.worker(lease_seconds=10000)
        old = await queue.die(worker, message="no document 1")
        await queue.clock.advance(minutes=10)
        middle = queue.clock.now
        same = await queue.die(worker, message="no document 2")
        coded = await queue.die(worker, code="Timeout")
        typed = await queue.die(worker, task_type="other")
        owned = await queue.die(worker, tenant_id=TENANT)
        letters = {row["task_id"]: row for row in await rows(queue.operator, "dead_letters")}
        fingerprint = letters[old]["fingerprint"]
        for matches, filter_ in (
            ([typed], {"task_type": "other"}),
            ([old, same], {"fingerprint": fingerprint}),
            ([coded], {"error_code": "Timeout"}),
            ([owned], {"tenant_id": TENANT}),
            ([old], {"died_before": middle}),
            ([], {"reason": "quarantined"}),
            ([old, same], {"task_ids": [old, same, 4711]}),
            ([old, same, coded, typed, owned], {"reason": "not_retriable"}),
            ([same], {"fingerprint": fingerprint, "task_ids": [same, coded]}),
        ):
            transaction = queue.operator.transaction()
            await transaction.start()
            counted = await value(queue.operator, "count_dead", **filter_)
            assert (counted, await replay(queue, **filter_)) == (len(matches), matches)
            await transaction.rollback()
        assert await value(queue.operator, "count_dead") == 5
        assert len(await replay(queue, limit=2)) == 2
        assert await value(queue.operator, "count_dead") == 3


async def test_two_operators_replaying_at_once_run_each_task_once(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        tasks = await queue.enqueue_many(50)
        for lease in await queue.claim(worker, 50):
            await queue.fail(worker, lease, final=True)

        async def one() -> list[int]:
            async with database.connect("operator") as operator:
                ids: list[int] = await value(operator, "replay", reason="not_retriable")
                return ids

        replayed = await asyncio.gather(*(one() for _ in range(4)))
        assert sorted(task for ids in replayed for task in ids) == tasks
        assert sorted(await queue.claimed_ids(worker)) == tasks
        assert sorted(int(row["subject"]) for row in await queue.audits("replay")) == tasks


async def test_a_replay_that_is_not_committed_is_skipped_by_another(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        first, second = await queue.die(worker), await queue.die(worker)
        async with database.connect("operator") as other:
            transaction = other.transaction()
            await transaction.start()
            assert await value(other, "replay", task_ids=[first]) == [first]
            assert await replay(queue) == [second]
            await transaction.rollback()
        assert await replay(queue) == [first]


async def test_a_replay_is_audited_with_what_was_known(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        task = await queue.die(worker, message="no disk")
        await replay(queue, task_ids=[task])
        (audit,) = await queue.audits("replay")
        assert (audit["actor"], audit["subject"]) == ("penstock_operator", str(task))
        assert "no disk" in audit["detail"]


async def test_a_task_can_be_replayed_after_its_partition_is_gone(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker(lease_seconds=10**8)
        task = await queue.die(worker, payload={"document_id": 1}, tenant_id=TENANT)
        for _ in range(12):
            await queue.clock.advance(days=1.1)
            await queue.enqueue_many(2)
            assert await value(queue.runtime, "maintain") is not None
        assert await queue.count("task", f"task_id = {task}") == 0
        assert (await queue.shown(task))["state"] == "dead"
        assert await queue.reasons(task) == ["dead"]
        assert await value(queue.runtime, "task_state", task) is None, "it is a tenant's, and none is set"
        assert await replay(queue, task_ids=[task]) == [task]
        lease = await queue.claim_one(worker)
        assert (lease["task_id"], lease["payload"]) == (task, '{"document_id": 1}')
        assert await queue.complete(worker, lease) == [lease["lease_id"]]
        assert await queue.state(task) == "completed"


async def test_a_replayed_task_that_dies_again_is_one_dead_letter_with_all_errors(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        task = await queue.die(worker, message="first")
        await replay(queue)
        assert (await queue.fail(worker, await queue.claim_one(worker), message="second", final=True))[
            1
        ] == "dead"
        (letter,) = await rows(queue.operator, "dead_letters")
        assert (letter["task_id"], letter["error_message"], letter["attempts"]) == (task, "second", 1)
        errors = json.loads(await value(queue.operator, "show_dead", task))["errors"]
        assert [error["error_message"] for error in errors] == ["first", "second"]


async def test_a_replayed_task_obeys_its_unique_key(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        old = await queue.die(worker, unique_key="k")
        running = await queue.enqueue(unique_key="k")
        assert await queue.claimed_ids(worker) == [running]
        assert await replay(queue) == [old]
        assert await queue.claimed_ids(worker) == []
        assert await queue.state(old) == "skipped"


async def test_a_replayed_task_obeys_its_limit_key(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        await queue.limit(max_running=1)
        old = await queue.die(worker, limit_key="a")
        await queue.enqueue(limit_key="a")
        lease = await queue.claim_one(worker)
        await replay(queue)
        assert await queue.claim(worker, 10) == []
        await queue.complete(worker, lease)
        assert await queue.claimed_ids(worker) == [old]


async def test_purged_dead_letters_are_gone_for_good(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker(lease_seconds=10000)
        old = await queue.die(worker)
        await queue.clock.advance(minutes=5)
        new = await queue.die(worker)
        before = queue.clock.now - timedelta(minutes=1)
        assert await value(queue.operator, "purge_dead", died_before=before) == 1
        assert [row["task_id"] for row in await rows(queue.operator, "dead_letters")] == [new]
        assert await replay(queue, task_ids=[old]) == []
        assert [row["detail"] for row in await queue.audits("purge")] == ['{"count": 1}']
