-- Dead letters that match the filter, counted by fingerprint: which causes there are, the most frequent first.
create or replace function queues.dead_by_fingerprint(
  _task_type text default null,
  _fingerprint text default null,
  _error_code text default null,
  _reason text default null,
  _limit integer default 50
)
returns table (
  fingerprint text, task_type text, error_code text, error_message text, letters bigint, first_died_at timestamptz,
  last_died_at timestamptz, last_task_id bigint
)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select
    d.fingerprint, max(d.task_type), max(d.error_code),
    left(split_part((array_agg(d.error_message order by d.died_at desc, d.task_id desc))[1], E'\n', 1), 300),
    count(*), min(d.died_at), max(d.died_at),
    (array_agg(d.task_id order by d.died_at desc, d.task_id desc))[1]
  from queues.dead_letter d
  where internal.may_see(d.tenant_id)
    and (_task_type is null or d.task_type = _task_type)
    and (_fingerprint is null or d.fingerprint = _fingerprint)
    and (_error_code is null or d.error_code = _error_code)
    and (_reason is null or d.reason = _reason)
  group by d.fingerprint
  order by count(*) desc, d.fingerprint
  limit _limit;
$$;
