-- What ended in one minute, by queue and tenant (and, with a null tenant, by queue alone): completed tasks as `done`, failed
-- and lost attempts as `failed`, and by internal.bucket() how long first attempts waited and completed ones ran. Reads every
-- `_every`-th attempt.
create or replace function queues.count_ends(_minute timestamptz, _every bigint)
returns table (queue_id smallint, tenant_id uuid, kind text, bucket integer, ended bigint)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  with ended as materialized (
    select a.task_id, a.tenant_id, a.outcome, a.attempt_number, a.claimed_at, a.closed_at
    from queues.attempt a
    where a.closed_at >= _minute and a.closed_at < _minute + interval '1 minute' and a.attempt_id % _every = 0
  ), task as materialized (
    select t.task_id, t.queue_id, t.scheduled_at from queues.task t where t.task_id = any (array(select e.task_id from ended e))
    union all
    select k.task_id, k.queue_id, k.scheduled_at from queues.task_kept k
    where k.task_id = any (array(select e.task_id from ended e))
      and not exists (select from queues.task t where t.task_id = k.task_id)
  ), facts as (
    select t.queue_id, e.tenant_id, f.kind, f.bucket
    from ended e
    join task t using (task_id)
    cross join lateral (
      values
        (case when e.outcome = 'completed' then 'done' when e.outcome in ('failed', 'lost') then 'failed' end, 0),
        (case when e.attempt_number = 1 and e.claimed_at is not null then 'waited' end,
          internal.bucket(extract(epoch from e.claimed_at - t.scheduled_at)::double precision)),
        (case when e.outcome = 'completed' and e.claimed_at is not null then 'ran' end,
          internal.bucket(extract(epoch from e.closed_at - e.claimed_at)::double precision))
    ) as f (kind, bucket)
    where f.kind is not null
  )
  select f.queue_id, f.tenant_id, f.kind, f.bucket, count(*)
  from facts f where f.tenant_id is not null group by 1, 2, 3, 4
  union all
  select f.queue_id, null, f.kind, f.bucket, count(*)
  from facts f group by 1, 3, 4;
$$;
