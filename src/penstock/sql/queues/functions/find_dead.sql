-- The dead letters that match a filter: those that count_dead counts and replay and purge_dead take. Every part that is
-- given must match; without any, all match.
create or replace function queues.find_dead(
  _task_ids bigint[],
  _task_type text,
  _fingerprint text,
  _error_code text,
  _reason text,
  _tenant_id uuid,
  _died_before timestamptz
)
returns setof bigint
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select d.task_id
  from queues.dead_letter d
  where internal.may_see(d.tenant_id)
    and (_task_ids is null or d.task_id = any (_task_ids))
    and (_task_type is null or d.task_type = _task_type)
    and (_fingerprint is null or d.fingerprint = _fingerprint)
    and (_error_code is null or d.error_code = _error_code)
    and (_reason is null or d.reason = _reason)
    and (_tenant_id is null or d.tenant_id = _tenant_id)
    and (_died_before is null or d.died_at < _died_before);
$$;
