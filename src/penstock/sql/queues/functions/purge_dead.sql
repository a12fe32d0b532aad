-- Deletes dead letters that match the filter for good and returns how many.
create or replace function queues.purge_dead(
  _task_ids bigint[] default null,
  _task_type text default null,
  _fingerprint text default null,
  _error_code text default null,
  _reason text default null,
  _tenant_id uuid default null,
  _died_before timestamptz default null
)
returns bigint
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_count bigint;
begin
  delete from queues.dead_letter x
  where x.task_id = any (array(
    select d.task_id
    from queues.dead_letter d
    where d.task_id = any (array(select queues.find_dead(
      _task_ids, _task_type, _fingerprint, _error_code, _reason, _tenant_id, _died_before)))
    order by d.task_id
    for update skip locked));
  get diagnostics v_count = row_count;
  perform queues.note_audit('purge', 'dead letters', jsonb_build_object('count', v_count));
  return v_count;
end;
$$;
