-- Enqueues what is due for subscriptions of every tenant: missing, to be renewed, lapsed, failed a while ago, or to be dropped
-- because the source is paused. `_kinds` are the kinds whose providers can notify us; of others, what has expired is ended.
-- Forgets what ended 30 days ago. Returns how many tasks. Locks: the sources, skipping locked ones; the ended subscriptions.
create or replace function all_tenants.start_due_subscriptions(_kinds text[], _limit integer default 500)
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := internal.clock();
  v_source record;
  v_count integer := 0;
  v_tenant text := current_setting('penstock.tenant_id', true);
begin
  delete from ingest.subscription u where u.ended_at < v_now - interval '30 days';
  update ingest.subscription u set ended_at = v_now, end_reason = 'off'
  from ingest.source s
  where s.source_id = u.source_id and s.kind <> all (_kinds) and u.ended_at is null
    and coalesce(u.expires_at, u.requested_at + interval '1 hour') <= v_now;
  for v_source in
    select s.source_id, s.tenant_id from ingest.source s
    join accounts.tenant t on t.tenant_id = s.tenant_id and t.status = 'active'
    join accounts.project p on p.project_id = s.project_id and p.deleted_at is null
    left join ingest.subscription u on u.source_id = s.source_id and u.ended_at is null
    where s.kind = any (_kinds) and s.removed_at is null and case s.status
      when 'error' then false
      when 'paused' then u.created_at is not null and coalesce(u.next_try_at, '-infinity') <= v_now
      else u.subscription_id is null
        or coalesce(u.next_try_at, u.renew_at, u.requested_at + interval '2 minutes') <= v_now end
    order by u.renew_at nulls first limit _limit
    for no key update of s skip locked
  loop
    perform set_config('penstock.tenant_id', v_source.tenant_id::text, true);
    perform ingest.enqueue_subscription(v_source.source_id);
    v_count := v_count + 1;
  end loop;
  perform set_config('penstock.tenant_id', coalesce(v_tenant, ''), true);
  return v_count;
end;
$$;
