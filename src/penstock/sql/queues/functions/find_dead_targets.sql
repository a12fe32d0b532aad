-- Dead letters that match a filter of an operation: `queue`, `task_type`, `fingerprint` (several between commas), `error_code`,
-- `reason`, `died_before`, `ids`; only those that died before _before. _all: of every tenant and of none; otherwise of _tenant_id only. For the
-- functions of operations.
create or replace function queues.find_dead_targets(
  _filter jsonb, _tenant_id uuid, _all boolean, _before timestamptz, _limit bigint default null
)
returns table (task_id bigint, tenant_id uuid)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select d.task_id, d.tenant_id
  from queues.dead_letter d
  where (_all or d.tenant_id = _tenant_id)
    and (not _filter ? 'ids' or d.task_id = any (array(
      select i.id::bigint from jsonb_array_elements_text(_filter -> 'ids') as i (id))))
    and (_filter ->> 'queue' is null or d.queue_id = (
      select q.queue_id from queues.queue q where q.queue_name = _filter ->> 'queue'))
    and (_filter ->> 'task_type' is null or d.task_type = _filter ->> 'task_type')
    and (_filter ->> 'fingerprint' is null or d.fingerprint = any (string_to_array(_filter ->> 'fingerprint', ',')))
    and (_filter ->> 'error_code' is null or d.error_code = _filter ->> 'error_code')
    and (_filter ->> 'reason' is null or d.reason = _filter ->> 'reason')
    and (_filter ->> 'died_before' is null or d.died_at < (_filter ->> 'died_before')::timestamptz)
    and d.died_at <= _before
  limit _limit;
$$;
