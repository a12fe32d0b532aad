-- How many dead letters match a filter: the preview of replay and purge.
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
  from queues.find_dead(_task_ids, _task_type, _fingerprint, _error_code, _reason, _tenant_id, _died_before);
$$;
