-- Finds every process that is not over and has no supervisor to come, of every tenant, enqueues one and counts that.
-- A root that needs it again and again, because its supervisor raises, is looked at less and less often, once a day at
-- last; so is one of a tenant that is stopped, whose own end closes it. Returns how many.
-- Locks: open roots that need it, skipping those that are locked.
create or replace function keeping.sweep_processes(_quiet interval default '1 minute', _limit integer default 500)
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_root internal.open_root;
  v_count integer := 0;
  v_tenant text := current_setting('penstock.tenant_id', true);
begin
  -- Those whose supervisor is merely late are looked at without a lock and do not count: a queue that is paused must
  -- not hide the others.
  for v_root in
    select * from internal.open_root o
    where o.next_check_at < internal.clock() - _quiet * 2 ^ least(o.swept, 10)
    order by o.next_check_at
  loop
    exit when v_count >= _limit;
    perform set_config('penstock.tenant_id', v_root.tenant_id::text, true);
    continue when coalesce(queues.task_state(v_root.task_id), 'gone') in ('ready', 'waiting', 'parked', 'running');
    perform from internal.open_root o
    where o.process = v_root.process and o.root_id = v_root.root_id and o.check_number = v_root.check_number
    for update skip locked;
    continue when not found;
    update internal.open_root o set swept = o.swept + 1
    where o.process = v_root.process and o.root_id = v_root.root_id;
    begin
      perform internal.next_check(v_root.process, v_root.root_id);
      v_count := v_count + 1;
    exception
      when sqlstate 'PS017' then
        -- Its tenant takes no more tasks; the others' roots must still be found.
        null;
    end;
  end loop;
  perform set_config('penstock.tenant_id', coalesce(v_tenant, ''), true);
  return v_count;
end;
$$;
