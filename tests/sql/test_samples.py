"""Samples of queues and stages: what ended in each minute, counted once however often it is sampled."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from tests.plugins.database import Database
from tests.sql.queue_calls import Calls, calls, rows, sessions, value


async def to_next_minute(queue: Calls, seconds: float = 1) -> None:
    """A little after the full minute, so that the one before has ended."""
    now = queue.clock.now
    full = now.replace(second=0, microsecond=0) + timedelta(minutes=1)
    await queue.clock.advance(seconds=(full - now).total_seconds() + seconds)


async def samples(queue: Calls, tenant: object = None) -> list[dict[str, Any]]:
    found = await queue.admin.fetch(
        "select s.* from queues.sample s join queues.queue q using (queue_id)"
        " where q.queue_name = 'default' and s.tenant_id is not distinct from $1 order by s.minute",
        tenant,
    )
    return [dict(row) for row in found]


async def run_one(queue: Calls, worker: int, *, seconds: float = 2, **named: object) -> None:
    await queue.enqueue(**named)  # type: ignore[arg-type]  # payload and names of enqueue
    lease = await queue.claim_one(worker)
    await queue.clock.advance(seconds=seconds)
    await queue.complete(worker, lease)


async def test_a_minute_is_sampled_once_with_what_ended_in_it_by_queue_and_tenant(database: Database) -> None:
    async with calls(database) as queue:
        worker, tenant = await queue.worker(lease_seconds=3_600), uuid4()
        await to_next_minute(queue)
        await run_one(queue, worker)
        await run_one(queue, worker, tenant_id=tenant)
        await queue.die(worker)
        await queue.enqueue(tenant_id=tenant)
        await to_next_minute(queue)
        assert await value(queue.runtime, "take_samples") > 0
        whole, mine = await samples(queue), await samples(queue, tenant)
        assert (whole[-1]["done"], whole[-1]["failed"]) == (2, 1)
        assert (whole[-1]["ready"], whole[-1]["running"], whole[-1]["dead"]) == (1, 0, 1)
        assert (mine[-1]["done"], mine[-1]["failed"], mine[-1]["ready"], mine[-1]["dead"]) == (1, 0, 1, 0)
        assert (sum(whole[-1]["ran"]), sum(whole[-1]["waited"])) == (2, 3)
        assert await value(queue.runtime, "take_samples") == 0
        assert (await samples(queue), await samples(queue, tenant)) == (whole, mine)


async def test_a_close_that_committed_after_its_minute_is_counted_by_the_next_sample(
    database: Database,
) -> None:
    async with calls(database) as queue:
        worker = await queue.worker(lease_seconds=3_600)
        await to_next_minute(queue)
        await queue.enqueue()
        lease = await queue.claim_one(worker)
        closing = queue.runtime.transaction()
        await closing.start()
        await queue.complete(worker, lease)
        await to_next_minute(queue)
        async with sessions(database, 1) as (other,):
            await rows(other, "take_samples")
            assert (await samples(queue))[-1]["done"] == 0
            await closing.commit()
            await to_next_minute(queue)
            await rows(other, "take_samples")
        assert [sample["done"] for sample in await samples(queue)][-2:] == [1, 0]


async def test_while_one_worker_samples_the_others_go_on(database: Database) -> None:
    async with calls(database) as queue, sessions(database, 1) as (other,):
        await to_next_minute(queue)
        sampling = queue.runtime.transaction()
        await sampling.start()
        assert await value(queue.runtime, "take_samples") > 0
        assert await value(other, "take_samples") is None
        await sampling.rollback()  # as a crash would end it
        assert await value(other, "take_samples") > 0


async def test_samples_are_kept_for_eight_days(database: Database) -> None:
    async with calls(database) as queue:
        await to_next_minute(queue)
        await rows(queue.runtime, "take_samples")
        first = (await samples(queue))[-1]["minute"]
        await queue.clock.advance(days=7.9)
        await rows(queue.runtime, "take_samples")
        assert first in [sample["minute"] for sample in await samples(queue)]
        await queue.clock.advance(days=0.2)
        await rows(queue.runtime, "take_samples")
        assert first not in [sample["minute"] for sample in await samples(queue)]


@pytest.mark.parametrize("seconds", [0.0004, 0.02, 1.0, 45.0, 4_000.0])
async def test_a_quantile_lies_within_half_of_the_durations_it_was_made_from(
    database: Database, seconds: float
) -> None:
    async with database.connect("admin") as admin:
        found = await admin.fetchval(
            "select internal.quantile(internal.histogram(jsonb_build_object(internal.bucket($1), 100)))",
            seconds,
        )
        assert found <= max(0.001, seconds * 1.5)
        assert seconds < 0.001 or found >= seconds / 1.5
        assert await admin.fetchval("select internal.quantile('{}')") is None


async def test_the_history_adds_up_to_the_samples(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker(lease_seconds=36_000)
        for _ in range(12):
            await to_next_minute(queue)
            await run_one(queue, worker, seconds=4)
        await to_next_minute(queue)
        await rows(queue.runtime, "take_samples")
        for hours, steps in ((1, 13), (24, 3), (168, 2)):
            history = await rows(queue.operator, "history", "default", hours)
            assert sum(step["done"] for step in history) == 12
            assert len(history) <= steps or hours == 1
            p95 = [step["p95_run_seconds"] for step in history if step["p95_run_seconds"] is not None]
            assert all(4 / 1.5 <= seconds <= 4 * 1.5 for seconds in p95)
            assert p95


WAYS = {
    "retried": """(0, 'received', null, 'pending'), (5, 'started', 'pending', 'processing'),
  (7, 'attempt_failed', 'processing', 'pending'), (10, 'started', 'pending', 'processing'),
  (12, 'chunked', 'processing', 'embedding'), (20, 'indexed', 'embedding', 'indexed')""",
    "failed": """(0, 'received', null, 'pending'), (1, 'started', 'pending', 'processing'),
  (2, 'failed', 'processing', 'failed')""",
    "a record of a source": "(3, 'indexed', null::text, 'indexed')",
}
STAGES = """
insert into ingest.document_event (tenant_id, document_id, at, event, from_status, to_status)
select $1, $2, internal.clock() + e.after * interval '1 second', e.event, e.was::ingest.document_status,
  e.became::ingest.document_status
from (values {way}) as e (after, event, was, became)
"""


async def test_stages_are_sampled_from_the_timelines_and_again_without_a_change(database: Database) -> None:
    async with calls(database) as queue:
        tenant = await queue.admin.fetchval(
            "insert into accounts.tenant (tenant_id, slug, name, created_at)"
            " values (internal.uuid7(), 'acme', 'Acme', now()) returning tenant_id"
        )
        await to_next_minute(queue)
        async with queue.admin.transaction():
            await queue.admin.execute("set local session_replication_role = replica")
            for way in WAYS.values():
                await queue.admin.execute(STAGES.format(way=way), tenant, uuid4())
        await to_next_minute(queue)
        take = "select all_tenants.take_stage_samples()"
        assert await queue.runtime.fetchval(take) == 4
        found = await queue.operator.fetch(
            "select stage, done, failed, p95_seconds from all_tenants.stage_figures()"
        )
        assert {row["stage"]: (row["done"], row["failed"]) for row in found} == {
            "received": (3, 0),
            "parsing": (1, 1),
            "embedding": (1, 0),
            "indexed": (2, 1),
        }, "what is tried again has not failed"
        whole = {row["stage"]: row["p95_seconds"] for row in found}
        assert 8 / 1.5 <= whole["embedding"] <= 8 * 1.5
        assert 13 / 1.5 <= whole["indexed"] <= 13 * 1.5, (
            "since it last began to wait; how long a record took is not known"
        )
        assert await queue.runtime.fetchval(take) == 0
