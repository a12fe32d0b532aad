-- Finds every open process, of every tenant, that has no supervisor enqueued, enqueues one and counts that. A root that needs
-- it again and again, because its supervisor raises, is checked less and less often, at last once a day; so is one of a
-- stopped tenant, whose own deletion closes it. Returns how many.
-- Locks: open roots that need it, skipping those that are locked.
create or replace function all_tenants.sweep_processes(_quiet interval default '1 minute', _limit integer default 500)
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
  -- Roots whose supervisor is merely late are read without a lock and do not count: a paused queue must not hide the
  -- others.
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
        -- Its tenant accepts no more tasks; roots of other tenants must still be found.
        null;
    end;
  end loop;
  perform set_config('penstock.tenant_id', coalesce(v_tenant, ''), true);
  return v_count;
end;
$$;
