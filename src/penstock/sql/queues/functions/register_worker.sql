-- Registers a worker, creates the queues it names, and returns its id. A worker that was declared lost registers again and
-- gets a new id; _replaces is the one it had: the process is alive, so no task killed it. `_versions` says which code it runs.
create or replace function queues.register_worker(
  _worker_name text, _queue_names text[], _lease_for interval, _versions jsonb default '{}', _replaces integer default null
)
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_queue text;
  v_worker_id integer;
begin
  if _lease_for < interval '100 milliseconds' then
    raise exception using errcode = 'PS005', detail = 'lease_for',
      message = format('a lease of %s is too short', _lease_for),
      hint = 'Use a lease of at least a few seconds: the worker sends three heartbeats in it.';
  end if;
  foreach v_queue in array _queue_names loop
    perform queues.put_queue(v_queue);
  end loop;
  insert into queues.worker (worker_name, queue_names, lease_for, started_at, beat_at, versions, replaces)
  values (
    left(_worker_name, 200), _queue_names, _lease_for, internal.clock(), internal.clock(), coalesce(_versions, '{}'), _replaces)
  returning worker_id into v_worker_id;
  return v_worker_id;
end;
$$;
