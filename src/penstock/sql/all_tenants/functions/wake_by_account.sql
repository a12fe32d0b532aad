-- Wakes one source of a mailbox by its address: the first after _after, because several tenants may have connected the same one;
-- `more` says whether there are others. One at a time: two rows locked in one transaction could deadlock with the schedule.
-- The caller has verified that the provider sent the notification. `outcome` is woken, pending (a sync is already
-- wanted), or unknown (there is no such source, or it is paused). It does not wait for the disk: a wake-up that a crash of the
-- server undoes costs no more than a lost notification, and the sweep makes up for both. Call it in a transaction of its own.
-- Locks: the pending sync's row, the subscription's. Raises nothing.
create or replace function all_tenants.wake_by_account(
  _kind text, _address text, _after uuid default null, out source_id uuid, out outcome text, out more boolean
)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_found record;
  v_now timestamptz := internal.clock();
  v_tenant text := current_setting('penstock.tenant_id', true);
begin
  perform set_config('synchronous_commit', 'off', true);
  outcome := 'unknown';
  more := false;
  for v_found in
    select s.source_id, s.tenant_id from ingest.source s
    join accounts.tenant t on t.tenant_id = s.tenant_id and t.status = 'active'
    where s.kind = _kind and s.address = lower(_address) and s.removed_at is null and s.status not in ('paused', 'error')
      and s.source_id > coalesce(_after, '00000000-0000-0000-0000-000000000000')
    order by s.source_id limit 2
  loop
    if source_id is not null then
      more := true;
      return;
    end if;
    source_id := v_found.source_id;
    perform set_config('penstock.tenant_id', v_found.tenant_id::text, true);
    update ingest.subscription u set last_notified_at = v_now
    where u.subscription_id = (
      select n.subscription_id from ingest.subscription n
      where n.source_id = v_found.source_id and n.ended_at is null
        and coalesce(n.last_notified_at, '-infinity') < v_now - interval '10 seconds'
      for update skip locked);
    outcome := case when ingest.wake_sync(v_found.source_id, 'push') then 'woken' else 'pending' end;
    perform set_config('penstock.tenant_id', coalesce(v_tenant, ''), true);
  end loop;
end;
$$;
