"""A claim touches what it takes, whatever the table looked like when its plan was made."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

import pytest

from tests.plugins.database import Database
from tests.sql.queue_calls import Calls, calls, rows

# Rows read from a table by scans, and entries read from its indexes: whichever is more.
TOUCHED = """
select t.relname, coalesce(t.seq_tup_read, 0) + greatest(coalesce(t.idx_tup_fetch, 0), (
  select coalesce(sum(i.idx_tup_read), 0) from pg_stat_user_indexes i where i.relid = t.relid)) as touched
from pg_stat_user_tables t
where t.schemaname = 'queues'
"""


async def touched_by(queue: Calls, call: Awaitable[object]) -> dict[str, int]:
    """How many rows of each table a call on the runtime connection touched."""
    before = await _touched(queue)
    await call
    after = await _touched(queue)
    return {name: after[name] - before[name] for name in after if after[name] > before[name]}


async def _touched(queue: Calls) -> dict[str, int]:
    # The other one's, too: what it looked up between two calls is not to be counted as of a call.
    await queue.admin.fetch("select pg_stat_force_next_flush()")
    await queue.runtime.fetch("select pg_stat_force_next_flush()")
    return {row["relname"]: int(row["touched"]) for row in await queue.admin.fetch(TOUCHED)}


async def marks_behind_the_leases(queue: Calls) -> dict[str, Any]:
    """As a worker claims: behind what it took. Another test may pin the horizon meanwhile."""
    row = await queue.admin.fetchrow("select max(lane) as lane, max(task_id) as seq from queues.lease")
    assert row is not None
    return {"lanes": [row["lane"]], "starts": [row["seq"] + 1]}


async def burst(queue: Calls, count: int) -> None:
    await queue.runtime.execute(
        "select queues.enqueue_many('job', array_agg('{}'::jsonb)) from generate_series(1, $1)", count
    )


async def backlog(queue: Calls, count: int) -> None:
    """This many ready tasks, written without the functions for speed."""
    await queue.admin.execute(
        f"""
        insert into queues.task (task_id, task_type, payload, enqueued_at, scheduled_at, queue_id, priority)
        select nextval('queues.task_id_seq'), 'job', '{{}}', now(), now(), 1, 5
        from generate_series(1, {count});
        insert into queues.ready (lane, seq, task_id, failures, losses, held)
        select internal.lane(1::smallint, 6, null), t.task_id, t.task_id, 0, 0, 0 from queues.task t;
        """
    )


async def test_a_plan_cached_while_the_queue_was_empty_works_for_a_burst(database: Database) -> None:
    async with calls(database, real_time=True) as queue:
        worker = await queue.worker()
        for _ in range(10):
            assert await queue.claim(worker, 100) == []
        await queue.admin.execute("vacuum analyze queues.ready")
        for _ in range(10):
            assert await queue.claim(worker, 100) == []
        await burst(queue, 200_000)
        marks: dict[str, Any] = {}
        for _ in range(5):
            touched = await touched_by(queue, queue.claim(worker, 100, **marks))
            assert 100 <= touched["ready"] <= 300, touched
            assert sum(touched.values()) <= 600, touched
            marks = await marks_behind_the_leases(queue)
        assert await queue.count("lease") == 500


async def test_a_claim_among_a_million_ready_tasks_reads_only_what_it_takes(database: Database) -> None:
    async with calls(database, real_time=True) as queue:
        worker = await queue.worker()
        await backlog(queue, 1_000_000)
        marks: dict[str, Any] = {}
        for _ in range(2):
            touched = await touched_by(queue, queue.claim(worker, 100, **marks))
            assert 100 <= touched["ready"] <= 300, touched
            assert sum(touched.values()) <= 600, touched
            marks = await marks_behind_the_leases(queue)
        await queue.admin.execute("analyze queues.ready")
        touched = await touched_by(queue, queue.claim(worker, 100, **marks))
        assert 100 <= touched["ready"] <= 300, touched
        leases = await queue.admin.fetch("select lease_id from queues.lease")
        touched = await touched_by(queue, queue.complete(worker, *leases[:100]))
        assert 100 <= touched["lease"] <= 300, touched
        # the audit after this test need not count them all
        await queue.admin.execute("truncate queues.ready, queues.task")
        await queue.admin.execute("delete from queues.lease")


async def test_tasks_that_are_not_due_cost_a_claim_nothing(database: Database) -> None:
    async with calls(database, real_time=True) as queue:
        worker = await queue.worker()
        await queue.admin.execute(
            """
            insert into queues.waiting (queue_id, due_at, seq, task_id, lane, failures, losses, held, keyed)
            select 1, now() + interval '1 day', n, n, internal.lane(1::smallint, 6, null), 0, 0, 0, n % 2 = 0
            from generate_series(1000000, 1300000) n
            """
        )
        await queue.enqueue_many(300)
        for _ in range(3):
            touched = await touched_by(queue, queue.claim(worker, 100))
            assert touched.get("waiting", 0) <= 10, touched
            # No more than all there ever were: claimed ones are walked over while a test beside this one
            # holds them visible, and the walk looks at one more to know that it is at the end.
            assert 100 <= touched["ready"] <= 301, touched
        touched = await touched_by(queue, rows(queue.runtime, "next_due", "default"))
        assert touched["waiting"] <= 10, touched
        await queue.admin.execute("truncate queues.waiting")


async def test_the_count_of_rows_read_notices_a_full_scan(database: Database) -> None:
    async with calls(database, real_time=True) as queue:
        worker = await queue.worker()
        await backlog(queue, 5_000)
        # the same claim without its settings' help: the index it walks is gone
        await queue.admin.execute("alter table queues.ready drop constraint ready_pkey")
        touched = await touched_by(queue, queue.claim(worker, 100))
        assert touched["ready"] >= 5_000, touched


@pytest.mark.parametrize("how", ["complete", "release", "close_cancelled"])
async def test_a_close_looks_its_tasks_up_in_a_hash(database: Database, how: str) -> None:
    """Comparing each lease with every task of the group was half the cost of a close."""
    async with calls(database, real_time=True) as queue:
        worker = await queue.worker()
        await burst(queue, 20)
        leases = await queue.claim(worker, 20)
        plans: list[str] = []
        queue.admin.add_log_listener(lambda _, message: plans.append(str(message)))
        await queue.admin.execute(
            "load 'auto_explain'; set auto_explain.log_min_duration = 0; set client_min_messages = log;"
            " set auto_explain.log_nested_statements = on"
        )
        closed = await queue.admin.fetchval(
            f"select queues.{how}(_worker_id => $1, _lease_ids => $2, _task_ids => $3)",
            worker,
            [lease["lease_id"] for lease in leases],
            [lease["task_id"] for lease in leases],
        )
        assert len(closed) == 20
        [plan] = [plan for plan in plans if "delete from queues.lease" in plan]
        assert "hashed SubPlan" in plan, plan
