"""A large payload is kept as the text that a worker gets, and every other reader finds it."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from penstock.db import Record
from tests.plugins.database import Database
from tests.sql.queue_calls import Calls, calls, rows, value
from tests.sql.test_retention import live

LARGE: dict[str, object] = {"text": 'ä "quoted" \\ line\n' * 2_000, "n": 1, "on": True}


def text_of(lease: Record) -> object:
    return json.loads(lease["payload"])


async def kept(queue: Calls, task: int, table: str = "task") -> tuple[bool, bool]:
    """Which of the two columns has the payload."""
    row = await queue.admin.fetchrow(
        f"select payload is not null, large_payload is not null from queues.{table} where task_id = $1", task
    )
    assert row is not None
    return row[0], row[1]


@pytest.mark.parametrize("named", [{}, {"unique_key": "k"}, {"delay": timedelta(seconds=1)}])
async def test_a_large_payload_is_kept_as_text_and_claimed_as_it_was_given(
    database: Database, named: dict[str, Any]
) -> None:
    async with calls(database) as queue:
        small, large = await queue.enqueue({"n": 2}), await queue.enqueue(LARGE, **named)
        assert (await kept(queue, small), await kept(queue, large)) == ((True, False), (False, True))
        await queue.clock.advance(seconds=2)
        leases = {lease["task_id"]: text_of(lease) for lease in await queue.claim(await queue.worker(), 10)}
        assert leases == {small: {"n": 2}, large: LARGE}


async def test_a_batch_may_have_payloads_of_both_kinds(database: Database) -> None:
    async with calls(database) as queue:
        payloads = [{"n": 0}, LARGE, {"n": 2}]
        tasks = await value(queue.runtime, "enqueue_many", "job", payloads)
        leases = {lease["task_id"]: text_of(lease) for lease in await queue.claim(await queue.worker(), 10)}
        assert leases == dict(zip(tasks, payloads, strict=True))


async def test_a_large_payload_is_stored_without_compressing_it(database: Database) -> None:
    """Compressing was most of what enqueuing half a megabyte cost."""
    async with calls(database) as queue:
        task = await queue.enqueue({"text": "x" * 500_000})
        compressed = "select pg_column_compression(large_payload) from queues.task where task_id = $1"
        assert await queue.admin.fetchval(compressed, task) is None


async def test_a_look_at_a_task_shows_its_large_payload(database: Database) -> None:
    async with calls(database) as queue:
        task = await queue.enqueue(LARGE)
        shown = json.loads(await value(queue.operator, "show_task", task))
        assert shown["payload"] == LARGE
        copy = await value(queue.operator, "repeat_task", task)
        assert json.loads(await value(queue.operator, "show_task", copy))["payload"] == LARGE
        await queue.claim(await queue.worker(), 10)


async def test_finding_a_task_makes_no_jsonb_of_its_large_payload(database: Database) -> None:
    """It took 25 ms per 500 KB, for each retry, rescue, key and gauge."""
    async with calls(database) as queue:
        task = await queue.enqueue(LARGE)
        found = "select payload, large_payload is not null from queues.find_task($1)"
        row = await queue.admin.fetchrow(found, task)
        assert row is not None
        assert tuple(row) == (None, True)


async def test_a_simple_worker_gets_a_large_payload(database: Database) -> None:
    async with calls(database) as queue:
        await queue.enqueue(LARGE)
        (task,) = await rows(queue.runtime, "dequeue_next_available_task")
        assert text_of(task) == LARGE


async def test_a_large_payload_survives_death_and_replay(database: Database) -> None:
    async with calls(database) as queue:
        task = await queue.enqueue(LARGE)
        worker = await queue.worker()
        await queue.fail(worker, await queue.claim_one(worker), final=True)
        dead = await queue.admin.fetchval("select payload from queues.dead_letter where task_id = $1", task)
        assert json.loads(dead) == LARGE
        await rows(queue.operator, "replay", [task])
        assert text_of(await queue.claim_one(worker)) == LARGE


async def test_a_large_payload_survives_its_partition(database: Database) -> None:
    async with calls(database) as queue:
        task = await queue.enqueue(LARGE, delay=timedelta(days=20))
        await live(queue, 12)
        assert await kept(queue, task, "task_kept") == (False, True)
        await queue.clock.advance(days=20)
        leases = await queue.claim(await queue.worker(), 100)
        assert LARGE in [text_of(lease) for lease in leases]


async def test_a_replayed_task_whose_partition_is_gone_has_its_large_payload(database: Database) -> None:
    async with calls(database) as queue:
        task = await queue.enqueue(LARGE)
        worker = await queue.worker(lease_seconds=10**8)
        await queue.fail(worker, await queue.claim_one(worker), final=True)
        await live(queue, 12)
        await rows(queue.operator, "replay", [task])
        assert await kept(queue, task, "task_kept") == (True, False)
        leases = await queue.claim(worker, 100)
        assert LARGE in [text_of(lease) for lease in leases]


async def test_a_channels_large_task_that_ends_badly_tells_its_error_handler(database: Database) -> None:
    async with calls(database) as queue:
        task = await queue.enqueue({**LARGE, "error_handler": "comms.handle"})
        worker = await queue.worker()
        await queue.fail(worker, await queue.claim_one(worker), final=True)
        told = await queue.admin.fetchval(
            "select coalesce(payload, large_payload::jsonb) -> 'original_payload' from queues.task"
            " where task_type = 'db_function'"
        )
        assert json.loads(told) == {**LARGE, "error_handler": "comms.handle"}
        assert task
