"""A channel's task that ends dead, quarantined or cancelled has its error handler run; others just end."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from penstock.db import Record
from penstock.model import uuid7
from tests.plugins.database import Database
from tests.sql.process_calls import processes
from tests.sql.queue_calls import Calls, calls, rows

PAYLOAD: dict[str, object] = {"send_sms_attempt_id": 7, "error_handler": "comms.record_sms_failure"}
QUEUE = "sms"


async def ran(queue: Calls, worker: int, **options: object) -> Record:
    """A task of a channel that runs; its lease."""
    task = await queue.enqueue(PAYLOAD, task_type="sms", **options)
    lease = await queue.claim_one(worker, QUEUE)
    assert lease["task_id"] == task
    return lease


async def handler_tasks(queue: Calls) -> list[dict[str, Any]]:
    """The tasks enqueued to run an error handler."""
    found = await queue.admin.fetch(
        """
        select t.payload ->> 'db_function' as function,
          t.payload -> 'original_payload' = $1::jsonb as is_original,
          t.payload ->> 'error' as error, t.payload -> 'retriable' = 'true' as retriable,
          t.tenant_id, q.queue_name
        from queues.task t join queues.queue q using (queue_id)
        where t.task_type = 'db_function' order by t.task_id
        """,
        '{"send_sms_attempt_id": 7, "error_handler": "comms.record_sms_failure"}',
    )
    return [dict(row) for row in found]


def told(error: str, tenant: UUID | None = None) -> list[dict[str, Any]]:
    return [
        {
            "function": "comms.record_sms_failure",
            "is_original": True,
            "error": error,
            "retriable": True,
            "tenant_id": tenant,
            "queue_name": QUEUE,
        }
    ]


async def test_the_error_handler_runs_for_a_channel_task_that_dies(database: Database) -> None:
    async with calls(database) as queue:
        tenant = uuid7()
        worker = await queue.worker(QUEUE)
        lease = await ran(queue, worker, tenant_id=tenant)
        assert (await queue.fail(worker, lease, "Refused", "not today", final=True))["outcome"] == "dead"
        assert await handler_tasks(queue) == told("Refused: not today", tenant)


async def test_the_error_handler_does_not_run_for_a_channel_task_that_is_retried(database: Database) -> None:
    async with calls(database) as queue:
        retry = {"default": {"kind": "table", "delays": [0, 0]}}
        await queue.put_type("sms", queue=QUEUE, max_attempts=2, retry=retry)
        worker = await queue.worker(QUEUE)
        lease = await ran(queue, worker)
        assert (await queue.fail(worker, lease, "Busy", "later"))["outcome"] == "retry"
        assert await handler_tasks(queue) == []
        lease = await queue.claim_one(worker, QUEUE)
        assert (await queue.fail(worker, lease, "Busy", "still"))["outcome"] == "dead"
        assert await handler_tasks(queue) == told("Busy: still")


async def test_the_error_handler_runs_for_a_quarantined_channel_task(database: Database) -> None:
    async with calls(database) as queue:
        await queue.put_type("sms", queue=QUEUE, max_losses=1)
        await ran(queue, await queue.worker(QUEUE))
        assert [row["outcome"] for row in await queue.lose()] == ["quarantined"]
        assert await handler_tasks(queue) == told("WorkerLost: 1 workers were lost while they ran this task")


@pytest.mark.parametrize("place", ["ready", "waiting", "parked"])
async def test_the_error_handler_runs_for_a_channel_task_cancelled_before_it_runs(
    database: Database, place: str
) -> None:
    async with calls(database) as queue:
        if place == "parked":
            worker = await queue.worker(QUEUE)
            await queue.enqueue(task_type="sms", unique_key="k", on_duplicate="coalesce")
            await queue.claim_one(worker, QUEUE)
        options: dict[str, dict[str, object]] = {
            "ready": {},
            "waiting": {"delay": timedelta(hours=1)},
            "parked": {"unique_key": "k", "on_duplicate": "coalesce"},
        }
        task = await queue.enqueue(PAYLOAD, task_type="sms", **options[place])
        queue_id = await queue.admin.fetchval(
            "select queue_id from queues.queue where queue_name = $1", QUEUE
        )
        await rows(queue.runtime, "admit", queue_id)
        assert await queue.state(task) == place
        assert (await rows(queue.operator, "cancel_task", task, "no need"))[0][0] == "cancelled"
        assert await handler_tasks(queue) == told("Cancelled: no need")


@pytest.mark.parametrize("close", ["close_cancelled", "fail", "snooze", "lost"])
async def test_the_error_handler_runs_for_a_channel_task_cancelled_while_it_runs(
    database: Database, close: str
) -> None:
    async with calls(database) as queue:
        worker = await queue.worker(QUEUE)
        lease = await ran(queue, worker)
        assert (await rows(queue.operator, "cancel_task", lease["task_id"], "no need"))[0][0] == "requested"
        assert await handler_tasks(queue) == [], "it may still end well"
        match close:
            case "fail":
                assert (await queue.fail(worker, lease))["outcome"] == "cancelled"
            case "snooze":
                assert await queue.close(close, worker, lease, [1.0]) == [lease["lease_id"]]
            case "lost":
                assert [row["outcome"] for row in await queue.lose()] == ["cancelled"]
            case _:
                assert await queue.close(close, worker, lease, ["stopped"]) == [lease["lease_id"]]
        assert await handler_tasks(queue) == told(
            "Cancelled: stopped" if close == "close_cancelled" else "Cancelled"
        )


async def test_the_error_handler_does_not_run_for_a_channel_task_that_completed_before_its_cancel(
    database: Database,
) -> None:
    async with calls(database) as queue:
        worker = await queue.worker(QUEUE)
        lease = await ran(queue, worker)
        await rows(queue.operator, "cancel_task", lease["task_id"], "no need")
        assert await queue.complete(worker, lease) == [lease["lease_id"]]
        assert await handler_tasks(queue) == []


async def test_an_ordinary_task_just_ends(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        payloads: list[dict[str, object]] = [
            {}, {"error_handler": None}, {"error_handler": 7}, {"error_handler": ["x"]},
        ]  # fmt: skip
        for payload in payloads:
            tasks = await queue.count("task")
            await queue.die(worker, payload=payload)
            await rows(queue.operator, "cancel_task", await queue.enqueue(payload), "no need")
            assert await queue.count("task") == tasks + 2


async def test_the_handlers_task_is_enqueued_in_the_transaction_that_ends_the_task(
    database: Database,
) -> None:
    """In the transaction that ends the task: neither is there without the other."""
    async with calls(database) as queue:
        worker = await queue.worker(QUEUE)
        lease = await ran(queue, worker)
        transaction = queue.runtime.transaction()
        await transaction.start()
        assert (await queue.fail(worker, lease, final=True))["outcome"] == "dead"
        await transaction.rollback()
        assert await handler_tasks(queue) == []
        assert await queue.state(lease["task_id"]) == "running"


async def test_a_handler_task_that_dies_itself_starts_no_other(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker(QUEUE)
        await queue.fail(worker, await ran(queue, worker), final=True)
        lease = await queue.claim_one(worker, QUEUE)
        assert (await queue.fail(worker, lease, final=True))["outcome"] == "dead"
        assert await queue.claim(worker, 1, QUEUE) == []


async def test_the_attempt_of_a_process_whose_task_dies_is_recorded_as_failed(database: Database) -> None:
    async with processes(database) as of:
        root_id = await of.start()
        attempt_id = await of.attempt(root_id)
        runtime = of.calls.runtime
        worker = await runtime.fetchval(
            "select queues.register_worker('w', array['sms', 'processes'], interval '1 day')"
        )
        (lease,) = await runtime.fetch("select * from queues.claim($1, 'sms', 1)", worker)
        await runtime.execute(
            "select queues.fail($1, array[$2::bigint], '{Down}', '{no gateway}', _final => '{t}')",
            worker,
            lease["lease_id"],
        )
        (handler,) = await runtime.fetch("select * from queues.claim($1, 'sms', 1)", worker)
        payload = await of.payload(handler["task_id"])
        for _ in range(2):
            answer = await of.calls.of(of.tenant, "internal.run_function", payload["db_function"], payload)
            assert answer["status"] == "succeeded"
        facts = await of.calls.admin.fetch("select * from comms.send_sms_attempt_failed")
        assert [(f["send_sms_attempt_id"], f["error_message"], f["retriable"]) for f in facts] == [
            (attempt_id, "Down: no gateway", True)
        ]
        assert await of.outcome(root_id) == "backing_off"
