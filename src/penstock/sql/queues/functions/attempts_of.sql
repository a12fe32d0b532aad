-- The attempts of some tasks of one tenant with the worker's name and the error of each, oldest first. For the timeline of a document,
-- which knows whose tasks they are.
create or replace function queues.attempts_of(_task_ids bigint[], _tenant_id uuid)
returns table (
  task_id bigint, attempt integer, outcome text, worker text, claimed_at timestamptz, closed_at timestamptz, error_code text,
  error_message text, code text
)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select a.task_id, a.attempt_number::integer, a.outcome::text, w.worker_name, a.claimed_at, a.closed_at, e.error_code, e.error_message,
    w.versions ->> 'code'
  from unnest(_task_ids) as i (task_id)
  cross join lateral (
    select o.* from queues.attempt o
    where o.task_id = i.task_id and o.tenant_id = _tenant_id order by o.attempt_id desc limit 100) a
  left join queues.worker w on w.worker_id = a.worker_id
  left join lateral (
    select x.error_code, left(x.error_message, 2000) as error_message from queues.error x
    where x.task_id = a.task_id and x.attempt_id = a.attempt_id limit 1) e on true
  union all
  select l.task_id, l.failures + 1, null, w.worker_name, l.claimed_at, null, null, null, w.versions ->> 'code'
  from queues.lease l
  left join queues.worker w on w.worker_id = l.worker_id
  where l.task_id = any (_task_ids) and l.tenant_id = _tenant_id
  order by 5 nulls last, 6 nulls last;
$$;
