-- Ends operations whose task has ended without them: it died, was cancelled, or is gone. Forgets those that ended 30 days ago, ten at
-- a time, because each may have many items. Returns how many it ended. Locks: their rows, skipping those that are locked.
create or replace function all_tenants.settle_operations()
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_operation ingest.operation;
  v_count integer := 0;
begin
  for v_operation in
    select o.* from ingest.operation o
    where o.finished_at is null and o.updated_at < internal.clock() - interval '1 minute'
    order by o.updated_at limit 100
    for update skip locked
  loop
    if not queues.is_open(v_operation.task_id) then
      perform ingest.end_operation(v_operation.operation_id, 'failed', format(
        'its task %s ended before it; penstock task show %1$s says why, and replaying it continues the operation',
        v_operation.task_id));
      v_count := v_count + 1;
    end if;
  end loop;
  delete from ingest.operation x
  where x.operation_id = any (array(
    select o.operation_id from ingest.operation o where o.finished_at < internal.clock() - interval '30 days'
    order by o.finished_at limit 10 for update skip locked));
  return v_count;
end;
$$;
