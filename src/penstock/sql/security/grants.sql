-- Who may call what. Every role calls functions; nobody has a grant on a table of the queue.
--   penstock_api          producers: enqueue and look
--   worker_service_user   workers: all of that, claim and close
--   service_role          operators: pause, limits, cancel, replay, purge, schedules
--   penstock_reader       read-only
-- Taken back first in every schema of ours, so that all grants come in one order; from the other owners as well, which
-- call some of each other's.
do $taken_back$
declare
  v_schema text;
  v_roles text;
begin
  for v_schema, v_roles in
    select n.nspname, (
      select string_agg(quote_ident(o.rolname), ', ')
      from pg_roles o
      where o.rolname in ('penstock_owner', 'penstock_queue', 'penstock_keeper') and o.oid <> n.nspowner)
    from pg_namespace n
    join pg_roles r on r.oid = n.nspowner
    where r.rolname in ('penstock_owner', 'penstock_queue', 'penstock_keeper')
    order by n.nspname
  loop
    execute format(
      'revoke all on all functions in schema %I
         from public, penstock_api, worker_service_user, service_role, penstock_reader, %s', v_schema, v_roles);
  end loop;
end
$taken_back$;
grant usage on schema queues, internal
  to penstock_api, worker_service_user, service_role, penstock_reader, penstock_queue, penstock_owner, penstock_keeper;
grant execute on all functions in schema internal to penstock_queue, penstock_keeper;

do $$
declare
  v_looks text[] := array[
    'stats', 'depths', 'limits', 'show_task', 'list_tasks', 'task_state', 'explain', 'dead_letters', 'show_dead', 'count_dead',
    'dead_by_fingerprint', 'schedules', 'workers', 'horizon_pins', 'audit_invariants', 'dead_tuples', 'partitions'];
  v_produces text[] := array['enqueue', 'enqueue_many', 'cancel_task'];
  v_works text[] := array[
    'put_queue', 'put_task_type', 'put_schedule', 'drop_schedule', 'register_worker', 'beat', 'stop_worker', 'go_idle',
    'claim', 'probe', 'admit', 'next_due', 'complete', 'complete_here', 'fail', 'snooze', 'release', 'close_cancelled',
    'rescue', 'maintain', 'due_schedules', 'fire_schedule', 'dequeue_next_available_task', 'complete_task',
    'fail_task', 'holds', 'extend', 'open_leases', 'spend'];
  v_operates text[] := array[
    'put_queue', 'put_task_type', 'put_schedule', 'drop_schedule', 'pause', 'resume', 'put_limits', 'run_now',
    'replay', 'purge_dead', 'run_schedule', 'set_schedule', 'rescue', 'maintain'];
  v_role text;
  v_names text[];
  v_function regprocedure;
begin
  for v_role, v_names in
    values
      ('penstock_reader', v_looks),
      ('penstock_api', v_looks || v_produces),
      ('worker_service_user', v_looks || v_produces || v_works),
      ('service_role', v_looks || v_produces || v_operates)
  loop
    for v_function in
      select p.oid::regprocedure from pg_proc p
      where p.pronamespace = 'queues'::regnamespace and p.proname = any (v_names)
    loop
      execute format('grant execute on function %s to %I', v_function, v_role);
    end loop;
  end loop;
end;
$$;

grant select on queues.task_lease, queues.task_completed to penstock_reader, service_role;

-- horizon_pins() runs as the queue's owner, who sees other users' sessions only as a reader of all statistics. Where
-- the migrating login may not grant that, doctor says so.
do $$
begin
  if not pg_catalog.pg_has_role('penstock_queue', 'pg_read_all_stats', 'usage') then
    grant pg_read_all_stats to penstock_queue;
  end if;
exception
  when insufficient_privilege then
    null;
end;
$$;
