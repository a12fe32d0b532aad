-- Puts back a task whose lease was closed: into the return lane at once, or into waiting until _due_at. Keyed tasks always
-- go through waiting, where admit gives them a slot again. _failures and _losses are the new counts.
create or replace function queues.return_task(_lease queues.lease, _failures integer, _losses integer, _due_at timestamptz)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_queue_id smallint := internal.lane_queue(_lease.lane);
begin
  if _lease.held = 0 and _due_at <= internal.clock() then
    perform pg_current_xact_id();
    insert into queues.ready (lane, seq, task_id, failures, losses, held)
    values (
      internal.return_lane(_lease.lane, _losses), nextval('queues.task_id_seq'), _lease.task_id, _failures, _losses, 0);
  else
    insert into queues.waiting (queue_id, due_at, seq, task_id, lane, failures, losses, held, keyed, tenant_id)
    values (
      v_queue_id, _due_at, nextval('queues.task_id_seq'), _lease.task_id, internal.return_lane(_lease.lane, _losses),
      _failures, _losses, _lease.held & 1, _lease.held <> 0, _lease.tenant_id);
    if _lease.held <> 0 then
      perform queues.free_keys(array[_lease.task_id], false);
    end if;
  end if;
  perform queues.wake(v_queue_id);
end;
$$;
