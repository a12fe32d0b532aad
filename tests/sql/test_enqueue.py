"""Enqueue is one SQL call in the caller's own transaction, from any language."""

from __future__ import annotations

import asyncio

import asyncpg
import pytest

from penstock.db import Connection
from tests.plugins.database import Database
from tests.sql.queue_calls import Calls, calls, rows

MEBIBYTE = 1048576


async def test_a_task_exists_once_the_callers_transaction_commits(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        async with queue.runtime.transaction():
            task = await queue.enqueue({"n": 1})
            async with database.connect("runtime") as other:
                assert await rows(other, "claim", worker, "default", 10) == []
        lease = await queue.claim_one(worker)
        assert (lease["task_id"], lease["payload"]) == (task, '{"n": 1}')


async def test_a_rollback_removes_the_task(database: Database) -> None:
    async with calls(database) as queue:
        transaction = queue.runtime.transaction()
        await transaction.start()
        await queue.enqueue()
        await queue.enqueue(unique_key="k")
        await transaction.rollback()
        assert await written(queue.admin) == 0
        assert await queue.claim(await queue.worker(), 10) == []


async def test_the_short_positional_call_enqueues(database: Database) -> None:
    async with calls(database) as queue:
        await queue.clock.advance(minutes=1)
        task = await queue.runtime.fetchval("select queues.enqueue('email', '{}', now())")
        lease = await queue.claim_one(await queue.worker("email"), queue="email")
        assert (lease["task_id"], lease["task_type"]) == (task, "email")


async def test_a_batch_keeps_its_order(database: Database) -> None:
    async with calls(database) as queue:
        tasks = await queue.enqueue_many(50)
        assert tasks == sorted(tasks)
        leases = await queue.claim(await queue.worker(), 50)
        assert {lease["task_id"]: lease["payload"] for lease in leases} == {
            task: f'{{"n": {n}}}' for n, task in enumerate(tasks)
        }


async def test_an_empty_batch_enqueues_nothing(database: Database) -> None:
    async with calls(database) as queue:
        assert await queue.enqueue_many(0) == []
        assert await written(queue.admin) == 0


@pytest.mark.parametrize(
    ("sqlstate", "field", "arguments"),
    [
        ("PS001", "task_type", "'no such type'"),
        ("PS002", "queue", "'job', _queue => 'no such queue'"),
        ("PS003", "payload", "'job', '[1]'"),
        ("PS003", "payload", "'job', '3'"),
        ("PS003", "payload", "'job', 'null'"),
        ("PS003", "payload", "'job', null"),
        ("PS003", "payload.document_id", "'strict', '{\"other\": 1}'"),
        ("PS004", "payload", "'job', jsonb_build_object('a', repeat('x', 1048576))"),
        ("PS005", "priority", "'job', _priority => 10"),
        ("PS005", "priority", "'job', _priority => -1"),
        ("PS005", "priority", "'job', _priority => 100000"),
        ("PS005", "delay", "'job', _delay => '-1 second'"),
        ("PS005", "delay", "'job', _delay => '1 second', _scheduled_at => now()"),
        ("PS005", "on_duplicate", "'job', _unique_key => 'k', _on_duplicate => 'never'"),
        ("PS005", "time_limit", "'job', _time_limit => '0 seconds'"),
    ],
)
async def test_bad_input_is_refused_and_writes_nothing(
    database: Database, sqlstate: str, field: str, arguments: str
) -> None:
    async with calls(database) as queue:
        await queue.put_type("strict", required_keys=["document_id"])
        await refused(queue, f"select queues.enqueue({arguments})", sqlstate, field)


@pytest.mark.parametrize(
    ("keys", "field"),
    [("_unique_keys => array['a']", "unique_keys"), ("_limit_keys => array['a', 'b', 'c']", "limit_keys")],
)
async def test_a_batch_with_too_few_or_many_keys_is_refused(
    database: Database, keys: str, field: str
) -> None:
    async with calls(database) as queue:
        batch = f"select queues.enqueue_many('job', array['{{}}', '{{}}']::jsonb[], {keys})"
        await refused(queue, batch, "PS005", field)


async def test_one_invalid_payload_refuses_the_whole_batch(database: Database) -> None:
    async with calls(database) as queue:
        await refused(
            queue, "select queues.enqueue_many('job', array['{}', '[]']::jsonb[])", "PS003", "payload"
        )


async def test_a_payload_just_under_the_limit_is_accepted(database: Database) -> None:
    async with calls(database) as queue:
        around = await queue.admin.fetchval("select pg_column_size(jsonb_build_object('a', ''))")
        room = MEBIBYTE - around - 8
        task = await queue.runtime.fetchval(
            "select queues.enqueue('job', jsonb_build_object('a', repeat('x', $1)))", room
        )
        assert await queue.state(task) == "ready"
        await refused(
            queue,
            f"select queues.enqueue('job', jsonb_build_object('a', repeat('x', {room + 16})))",
            "PS004",
            "payload",
        )


async def test_compression_does_not_get_a_payload_past_the_limit(database: Database) -> None:
    async with calls(database) as queue:
        await queue.runtime.execute(
            "create temp table outbox as select jsonb_build_object('a', repeat('x', 2000000)) as payload"
        )
        await refused(queue, "select queues.enqueue('job', o.payload) from outbox o", "PS004", "payload")


async def test_a_notification_is_sent_only_while_a_worker_is_idle(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        heard: asyncio.Queue[str] = asyncio.Queue()
        await queue.operator.add_listener("penstock_ready", lambda *event: heard.put_nowait(str(event[3])))

        async def heard_since(fence: str) -> list[str]:
            """What arrived before a notification of our own; one sender's arrive in order."""
            await queue.runtime.fetch("select pg_notify('penstock_ready', $1)", fence)
            messages = []
            while (message := await asyncio.wait_for(heard.get(), 10)) != fence:
                messages.append(message)
            return messages

        queue_id = str(
            await queue.admin.fetchval("select queue_id from queues.queue where queue_name = 'default'")
        )
        await queue.enqueue()
        assert await heard_since("busy") == []
        await rows(queue.runtime, "go_idle", worker, "default", True)
        async with queue.runtime.transaction():
            await queue.enqueue()
            await queue.enqueue(unique_key="k")
        # A task to claim, and one that an admission decides: the worker then asks what is due.
        assert await heard_since("idle") == [queue_id, f"{queue_id}:due"]
        await rows(queue.runtime, "go_idle", worker, "default", False)
        await queue.enqueue()
        assert await heard_since("busy again") == []


async def refused(queue: Calls, statement: str, sqlstate: str, field: str) -> None:
    before = await written(queue.admin)
    with pytest.raises(asyncpg.PostgresError) as caught:
        await queue.runtime.fetch(statement)
    assert (caught.value.sqlstate, caught.value.detail) == (sqlstate, field)
    assert caught.value.hint
    assert await written(queue.admin) == before


async def written(admin: Connection) -> int:
    counted: int = await admin.fetchval(
        """
        select (select count(*) from queues.task) + (select count(*) from queues.ready)
          + (select count(*) from queues.waiting)
        """
    )
    return counted
