-- Dead letters that match the filter, newest first.
create or replace function queues.dead_letters(
  _task_type text default null,
  _fingerprint text default null,
  _error_code text default null,
  _reason text default null,
  _limit integer default 50
)
returns table (
  task_id bigint, task_type text, queue text, reason text, attempts smallint, losses smallint, error_code text,
  error_message text, fingerprint text, died_at timestamptz
)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select d.task_id, d.task_type, q.queue_name, d.reason, d.attempts, d.losses, d.error_code,
    left(split_part(d.error_message, E'\n', 1), 300), d.fingerprint, d.died_at
  from queues.dead_letter d
  join queues.queue q using (queue_id)
  where internal.may_see(d.tenant_id)
    and (_task_type is null or d.task_type = _task_type)
    and (_fingerprint is null or d.fingerprint = _fingerprint)
    and (_error_code is null or d.error_code = _error_code)
    and (_reason is null or d.reason = _reason)
  order by d.died_at desc, d.task_id desc
  limit _limit;
$$;
