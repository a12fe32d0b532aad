"""A look at tasks, failures and history reads a bounded number of rows, however many there are."""

from __future__ import annotations

from uuid import uuid4

from tests.plugins.database import Database
from tests.sql.queue_calls import Calls, calls, rows
from tests.sql.test_plans import backlog

MANY = 30_000

# Rows read by scans, and entries read from b-trees: whichever is more. A BRIN index counts pages.
TOUCHED = """
select sum(coalesce(t.seq_tup_read, 0) + greatest(coalesce(t.idx_tup_fetch, 0), (
  select coalesce(sum(i.idx_tup_read), 0) from pg_stat_user_indexes i
  join pg_class c on c.oid = i.indexrelid join pg_am a on a.oid = c.relam and a.amname = 'btree'
  where i.relid = t.relid)))
from pg_stat_user_tables t
where t.schemaname = 'queues' and t.relname ~ '^(ready|waiting|dead_letter|task|attempt)'
"""

DEAD = """
insert into queues.dead_letter (task_id, task_type, payload, enqueued_at, scheduled_at, queue_id, priority,
  tenant_id, attempts, losses, reason, error_code, error_message, fingerprint, errors, died_at)
select 10000000 + n, 'job', '{}', now(), now(), 1, 5, case when n % 100 = 0 then $1::uuid end,
  1, 0, 'exhausted', 'Error', 'broke',
  'cause ' || n % 5, '[]', now() - n * interval '1 second'
from generate_series(1, $2) n
"""
WAITING = """
insert into queues.waiting (queue_id, due_at, seq, task_id, lane, failures, losses, held, keyed, tenant_id)
select 1, now() + interval '1 day', n, 20000000 + n, internal.lane(1::smallint, 6, null), 0, 0, 0, false,
  case when n % 100 = 0 then $1::uuid end
from generate_series(1, $2) n
"""
TASKS = """
insert into queues.task (task_id, task_type, payload, enqueued_at, scheduled_at, queue_id, priority)
select $1 + n, 'job', '{}', now(), now(), 1, 5 from generate_series(1, $2) n
"""
HISTORY = """
insert into queues.attempt (attempt_id, task_id, claimed_at, closed_at, outcome, attempt_number)
select nextval('queues.lease_id_seq'), n, now(), now() - (40000 - n) * interval '1 second', 'completed', 1
from generate_series(1, 40000) n
"""


async def _touched(queue: Calls) -> int:
    for connection in (queue.operator, queue.admin):
        await connection.fetch("select pg_stat_force_next_flush()")
    return int(await queue.admin.fetchval(TOUCHED))


async def read(queue: Calls, function: str, *arguments: object, **named: object) -> int:
    """How many rows of the big tables an operator's call reads."""
    before = await _touched(queue)
    await rows(queue.operator, function, *arguments, **named)
    return await _touched(queue) - before


async def test_a_page_of_tasks_reads_little_more_than_itself(database: Database) -> None:
    async with calls(database, real_time=True) as queue:
        tenant = uuid4()
        await backlog(queue, MANY)
        await queue.enqueue_many(5, tenant_id=tenant)
        await queue.admin.execute(WAITING, tenant, MANY)
        await queue.admin.execute(TASKS, 20_000_000, MANY)
        await queue.admin.execute(DEAD, tenant, MANY)
        for state in ("ready", "waiting", "dead"):
            page = await rows(queue.operator, "page_tasks", state)
            filters: list[dict[str, object]] = [{}, {"after": page[-1]["place"]}, {"tenant_id": tenant}]
            for named in filters:
                assert await read(queue, "page_tasks", state, **named) <= 700, (state, named)
            assert await read(queue, "page_tasks", state, "default") <= 700, state
            assert await read(queue, "count_tasks", state) <= 11_000, state
        assert await read(queue, "figures", "default") <= 35_000
        await queue.admin.execute("truncate queues.ready, queues.task, queues.waiting, queues.dead_letter")


async def test_groups_of_failures_are_found_without_reading_their_payloads(database: Database) -> None:
    async with calls(database, real_time=True) as queue:
        tenant = uuid4()
        await queue.admin.execute(DEAD, tenant, MANY)
        await queue.admin.execute("analyze queues.dead_letter")
        groups = await rows(queue.operator, "dead_groups")
        assert [row["letters"] for row in groups] == [6_000] * 5
        assert await read(queue, "dead_members", groups[0]["fingerprint"]) <= 200
        await queue.admin.execute("truncate queues.dead_letter")


async def test_ended_tasks_are_read_from_the_end_of_history(database: Database) -> None:
    async with calls(database, real_time=True) as queue:
        await queue.admin.execute(TASKS, 0, 40_000)
        await queue.admin.execute(HISTORY)
        await queue.admin.execute("vacuum analyze queues.attempt")
        assert await read(queue, "page_tasks", "completed") <= 20_000
        assert await read(queue, "page_tasks", "lost", scan=8_000) <= 20_000, "a search stops"
        await queue.admin.execute("truncate queues.attempt, queues.task")
