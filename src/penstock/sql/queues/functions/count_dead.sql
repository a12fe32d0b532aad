-- How many dead letters a filter names: the preview of replay and purge. Every given part must match; none
-- given names all.
create or replace function queues.count_dead(
  _task_ids bigint[] default null,
  _task_type text default null,
  _fingerprint text default null,
  _error_code text default null,
  _reason text default null,
  _tenant_id uuid default null,
  _died_before timestamptz default null
)
returns bigint
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select count(*)
  from queues.dead_letter d
  where (_task_ids is null or d.task_id = any (_task_ids))
    and (_task_type is null or d.task_type = _task_type)
    and (_fingerprint is null or d.fingerprint = _fingerprint)
    and (_error_code is null or d.error_code = _error_code)
    and (_reason is null or d.reason = _reason)
    and (_tenant_id is null or d.tenant_id = _tenant_id)
    and (_died_before is null or d.died_at < _died_before);
$$;
