-- Ends re-indexes on the workers whose task has ended without them: it died, was cancelled, or is gone. Forgets those that ended 30
-- days ago, ten at a time. Returns how many it ended. Locks: their rows, skipping those that are locked.
create or replace function all_tenants.settle_bulk()
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_run ingest.bulk_run;
  v_count integer := 0;
begin
  for v_run in
    select r.* from ingest.bulk_run r
    where r.finished_at is null and r.task_id is not null and r.updated_at < internal.clock() - interval '1 minute'
    order by r.updated_at limit 100
    for update skip locked
  loop
    if not queues.is_open(v_run.task_id) then
      perform ingest.end_run(v_run.run_id, 'failed', format(
        'its task %s ended before it; penstock explain %1$s says why', v_run.task_id));
      v_count := v_count + 1;
    end if;
  end loop;
  delete from ingest.bulk_run x
  where x.run_id = any (array(
    select r.run_id from ingest.bulk_run r where r.finished_at < internal.clock() - interval '30 days'
    order by r.finished_at limit 10 for update skip locked));
  return v_count;
end;
$$;
