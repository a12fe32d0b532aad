"""Fills a migrated database by SQL: tasks in every state, their history, documents and their timelines.

Written past the functions for speed, as the owner of a test's server; never for a database that anybody
  uses.
"""

from __future__ import annotations

from uuid import UUID

from bench.console.filling_around import fill_around
from penstock.db import Connection

QUEUES = ("default", "ingest-document", "email", "reports")
SHARES = {"ready": 0.30, "waiting": 0.15, "parked": 0.05, "dead": 0.06, "running": 0.002}
"""The other tasks have ended."""
OTHER_TENANTS = 20

_TENANTS = """
insert into accounts.tenant (tenant_id, slug, name, created_at)
select internal.uuid7(), 'filled-' || n, 'Filled ' || n, now() from generate_series(1, $1::integer) n
on conflict do nothing
"""
_PLAN = """
create temporary table plan on commit preserve rows as
select n.task_id, n.task_id - $2::bigint as n, q.queue_id, y.task_type,
  case when random() < 0.6 then $1::uuid else t.tenant_id end as tenant_id,
    floor(random() * 3)::smallint + 4 as priority,
  now() - random() * interval '7 days' as enqueued_at, random() as dice
from generate_series($2::bigint + 1, $2::bigint + $3::bigint) as n (task_id)
cross join lateral (
  select k.queue_id, k.queue_name from (
    select w.queue_id, w.queue_name, row_number() over (order by w.queue_id) as place from queues.queue w
    where w.queue_name = any ($4::text[])
  ) k where k.place = 1 + n.task_id % cardinality($4::text[])
) q
cross join lateral (
  select case when n.task_id % 1000 = 1 then 'rare' else q.queue_name end || '.work' as task_type
) y
cross join lateral (
  select f.tenant_id from (
    select o.tenant_id, row_number() over (order by o.slug) as place from accounts.tenant o where o.slug
      like 'filled-%'
  ) f where f.place = 1 + n.task_id % $5::integer
) t
"""
_TASKS = """
insert into queues.task (task_id, task_type, payload, enqueued_at, scheduled_at, queue_id, priority,
  tenant_id)
select p.task_id, p.task_type, jsonb_build_object('document_id', gen_random_uuid(), 'api_key',
  'sk-' || md5(p.n::text), 'n', p.n),
  p.enqueued_at, p.enqueued_at, p.queue_id, p.priority, p.tenant_id
from plan p where p.n > $1::bigint
"""
_READY = """
insert into queues.ready (lane, seq, task_id, failures, losses, held)
select internal.lane(p.queue_id, p.priority + 1, p.tenant_id), p.task_id, p.task_id, 0, 0, 0
from plan p where p.n > $1::bigint and p.n <= $2::bigint
"""
_WAITING = """
insert into queues.waiting (queue_id, due_at, seq, task_id, lane, failures, losses, held, keyed, tenant_id)
select p.queue_id, now() + p.dice * interval '2 days', p.task_id, p.task_id,
  internal.lane(p.queue_id, p.priority + 1, p.tenant_id), floor(p.dice * 4), 0, 0, false, p.tenant_id
from plan p where p.n > $1::bigint and p.n <= $2::bigint
"""
_PARKED = """
insert into queues.parked (key, priority, seq, task_id, lane, queue_id, failures, losses, held, tenant_id)
select sha256(convert_to((p.n % 500)::text, 'UTF8')), p.priority, p.task_id, p.task_id,
  internal.lane(p.queue_id, p.priority + 1, p.tenant_id), p.queue_id, 0, 0, 0, p.tenant_id
from plan p where p.n > $1::bigint and p.n <= $2::bigint
"""
_DEAD = """
insert into queues.dead_letter (task_id, task_type, payload, enqueued_at, scheduled_at, queue_id,
  priority, tenant_id, attempts,
  losses, reason, error_code, error_message, fingerprint, errors, died_at)
select p.task_id, p.task_type, jsonb_build_object('n', p.n), p.enqueued_at, p.enqueued_at, p.queue_id,
  p.priority, p.tenant_id, 5, 0,
  'exhausted', 'Error' || p.n % 40, 'it broke at ' || p.n, substr(md5((p.n % 40)::text), 1, 12), '[]',
  now() - p.dice * interval '5 days'
from plan p where p.n <= $1::bigint
"""
_WORKERS = """
insert into queues.worker (worker_name, queue_names, lease_for, started_at, beat_at, versions)
select 'filled-' || n, $1::text[], interval '10 years', now(), now(),
  '{"penstock": "0.1.0"}' from generate_series(1, 20) n
"""
_RUNNING = """
insert into queues.lease (lease_id, task_id, lane, claimed_at, tenant_id, worker_id, failures, losses, held)
select nextval('queues.lease_id_seq'), p.task_id, internal.lane(p.queue_id, p.priority + 1, p.tenant_id),
  now(), p.tenant_id,
  (select min(w.worker_id) from queues.worker w where w.worker_name like 'filled-%') + p.n % 20, 0, 0, 0
from plan p where p.n > $1::bigint and p.n <= $2::bigint
"""
_ATTEMPTS = """
insert into queues.attempt (attempt_id, task_id, claimed_at, closed_at, tenant_id, worker_id, outcome,
  attempt_number)
select nextval('queues.lease_id_seq'), p.task_id, p.at, p.at + p.dice * interval '20 seconds',
  p.tenant_id, 1,
  (case when p.dice < 0.9 then 'completed' when p.dice < 0.97 then 'failed' else 'cancelled'
    end)::queues.outcome, 1
from (select o.*, o.enqueued_at + interval '5 seconds' as at from plan o where o.n > $1::bigint order by
  o.enqueued_at) p
"""
_ERRORS = """
insert into queues.error (task_id, attempt_id, tenant_id, attempt_number, worker_id, error_code,
  error_message, fingerprint,
  occurred_at)
select a.task_id, a.attempt_id, a.tenant_id, 1, 1, 'Error', 'it broke', 'aaaaaaaaaaaa', a.closed_at
from queues.attempt a where a.outcome = 'failed'
"""
_SAMPLES = """
insert into queues.sample (queue_id, tenant_id, minute, ready, running, waiting, dead, done, failed,
  waited, ran)
select q.queue_id, t.tenant_id, m.minute, 1000, 10, 10, 5, 60, 1, array_fill(2::bigint, array[46]),
  array_fill(1::bigint, array[46])
from queues.queue q
cross join (values (null::uuid), ($1::uuid)) as t (tenant_id)
cross join generate_series(date_trunc('minute', now()) - interval '8 days', date_trunc('minute',
  now()) - interval '1 minute',
  interval '1 minute') as m (minute)
where q.queue_name = any ($2::text[])
on conflict do nothing
"""
_DOCUMENTS = """
insert into ingest.document (document_id, tenant_id, project_id, content_sha256, size_bytes, mime_type,
  filename, title, path, file_id,
  status, reason_code, error_message, fingerprint, created_at, updated_at, live_generation, chunk_count,
    token_count)
select d.document_id, $1, $2, sha256(convert_to(d.n::text, 'UTF8')), 1000 + d.n % 100000,
  (array['application/pdf', 'text/plain', 'message/rfc822'])[1 + d.n % 3], 'file-' || d.n || '.pdf',
    'Report number ' || d.n,
  '/archive/' || d.n % 100 || '/file-' || d.n || '.pdf', d.document_id, d.status::ingest.document_status,
  case when d.status = 'failed' then (array['malformed', 'timeout', 'encrypted', 'oom'])[1 + d.n % 4] end,
  case when d.status = 'failed' then 'the file is broken at byte ' || d.n end,
  case when d.status = 'failed' then substr(md5((d.n % 25)::text), 1, 12) end,
  d.at, d.at, case when d.status = 'indexed' then 1 else 0 end, 12, 4000
from (
  select n, internal.uuid7() as document_id,
    now() - (1 - n::double precision / $3) * interval '30 days' as at,
    case when n % 100 < 85 then 'indexed' when n % 100 < 93 then 'failed' when n % 100 < 96 then 'skipped'
      when n % 1000 < 990 then 'pending' when n % 1000 < 995 then 'processing' else 'embedding' end as
        status
  from generate_series(1, $3::integer) n
) d
"""
_FILES = """
insert into files.file (file_id, tenant_id, document_id, blob_path, content_sha256, size_bytes,
  mime_type, stored_at)
select d.file_id, d.tenant_id, d.document_id, 'filled/' || d.file_id, d.content_sha256, d.size_bytes,
  d.mime_type, d.created_at
from ingest.document d where d.file_id = d.document_id
"""
_EVENTS = """
insert into ingest.document_event (tenant_id, document_id, at, event, from_status, to_status)
select d.tenant_id, d.document_id, d.created_at + e.after, e.event, e.from_status::ingest.document_status,
  e.to_status::ingest.document_status
from ingest.document d
cross join (values
  (interval '0', 'received', null, 'pending'), (interval '2 seconds', 'started', 'pending', 'processing'),
  (interval '3 seconds', 'chunked', 'processing', 'embedding'), (interval '9 seconds', 'indexed',
    'embedding', 'indexed')
) as e (after, event, from_status, to_status)
where d.file_id = d.document_id
order by d.document_id, e.after
"""
_STAGES = """
insert into ingest.stage_sample (tenant_id, stage, minute, done, failed, took)
select $1, s.stage, m.minute, 20, 1, array_fill(1::bigint, array[46])
from unnest(array['received', 'parsing', 'embedding', 'indexed']) as s (stage)
cross join generate_series(date_trunc('minute', now()) - interval '8 days', date_trunc('minute',
  now()) - interval '1 minute',
  interval '1 minute') as m (minute)
on conflict do nothing
"""


async def fill(
    admin: Connection, tenant_id: UUID, *, tasks: int = 1_000_000, documents: int = 100_000
) -> None:
    """Add this many tasks and documents, and what surrounds them.

    Six of ten tasks and all the rest belong to this tenant.
    """
    await admin.execute("set session_replication_role = replica; set synchronous_commit = off")
    try:
        await _fill_tasks(admin, tenant_id, tasks)
        project_id = await _fill_documents(admin, tenant_id, documents)
        await fill_around(admin, tenant_id, project_id)
    finally:
        await admin.execute(
            "reset session_replication_role; reset synchronous_commit; drop table if exists plan"
        )
    await admin.execute("vacuum analyze")


async def _fill_tasks(admin: Connection, tenant_id: UUID, tasks: int) -> None:
    queues = list(QUEUES)
    for queue in queues:
        await admin.execute("select queues.put_task_type($1 || '.work', $1)", queue)
    await admin.execute(_TENANTS, OTHER_TENANTS)
    await admin.execute(_WORKERS, queues)
    last = await admin.fetchval("select nextval('queues.task_id_seq')")
    await admin.execute("select setval('queues.task_id_seq', $1)", last + tasks)
    await admin.execute(_PLAN, tenant_id, last, tasks, queues, OTHER_TENANTS)
    upto = 0
    bounds = {}
    for state in ("dead", "running", "ready", "waiting", "parked"):
        bounds[state] = (upto, upto := upto + int(tasks * SHARES[state]))
    dead = bounds["dead"][1]
    await admin.execute(_DEAD, dead)
    await admin.execute(_TASKS, dead)
    for statement, state in (
        (_RUNNING, "running"),
        (_READY, "ready"),
        (_WAITING, "waiting"),
        (_PARKED, "parked"),
    ):
        await admin.execute(statement, *bounds[state])
    await admin.execute(_ATTEMPTS, upto)
    await admin.execute(_ERRORS)
    await admin.execute(_SAMPLES, tenant_id, queues)


async def _fill_documents(admin: Connection, tenant_id: UUID, documents: int) -> UUID:
    """Returns the project they are in."""
    project_id: UUID = await admin.fetchval(
        "select project_id from accounts.project where tenant_id = $1 and deleted_at is null limit 1",
        tenant_id,
    )
    await admin.execute(_DOCUMENTS, tenant_id, project_id, documents)
    await admin.execute(_FILES)
    await admin.execute(_EVENTS)
    await admin.execute(_STAGES, tenant_id)
    return project_id
