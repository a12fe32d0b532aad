-- Wakes the source of a notification that carries a client state, if it is genuine. `_client_state_sha256` is the hash of the
-- state, which only the provider and we know, so the time of a comparison tells nothing about it. The subscription's id must
-- belong to it: a state of one subscription wakes no other source. Returns forged (nothing was written), stale (the
-- subscription has ended, or its source is paused or gone), pending (a sync is already wanted), woken, renewing, or
-- recreating. Only lifecycle events wait for the disk: a wake-up that a crash of the server undoes costs no more than a lost
-- notification, and the sweep makes up for both. Call it in a transaction of its own. Locks: the pending sync's row, the
-- subscription's. Raises nothing.
create or replace function all_tenants.wake_by_subscription(
  _kind text, _provider_id text, _client_state_sha256 bytea, _event text default null
)
returns text
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_found record;
  v_now timestamptz := internal.clock();
  v_tenant text := current_setting('penstock.tenant_id', true);
  v_outcome text;
begin
  select u.subscription_id, u.source_id, u.tenant_id, u.ended_at, u.last_notified_at, u.renewed_at,
    s.status not in ('paused', 'error') and s.removed_at is null and t.status = 'active' as is_open
  into v_found
  from ingest.subscription u
  join ingest.source s on s.source_id = u.source_id and s.kind = _kind
  join accounts.tenant t on t.tenant_id = u.tenant_id
  -- Its id is not known until the provider's answer has been stored; the first notification may be faster.
  where u.client_state_sha256 = _client_state_sha256 and coalesce(u.provider_id, _provider_id) = _provider_id;
  if not found then
    return 'forged';
  end if;
  if v_found.ended_at is not null or not v_found.is_open then
    return 'stale';
  end if;
  if _event is null then
    perform set_config('synchronous_commit', 'off', true);
  end if;
  perform set_config('penstock.tenant_id', v_found.tenant_id::text, true);
  if v_found.last_notified_at is null or v_found.last_notified_at < v_now - interval '10 seconds' then
    update ingest.subscription u set last_notified_at = v_now
    where u.subscription_id = (
      select n.subscription_id from ingest.subscription n
      where n.subscription_id = v_found.subscription_id for update skip locked);
  end if;
  case _event
    when 'reauthorizationRequired' then
      update ingest.subscription u set renew_at = v_now, next_try_at = null
      where u.subscription_id = v_found.subscription_id and u.ended_at is null and u.renewed_at < v_now - interval '1 minute';
      if found then
        perform ingest.enqueue_subscription(v_found.source_id);
      end if;
      v_outcome := 'renewing';
    when 'subscriptionRemoved' then
      if ingest.end_subscription(v_found.subscription_id, 'removed') then
        perform ingest.enqueue_subscription(v_found.source_id);
      end if;
      perform ingest.wake_sync(v_found.source_id, 'push');
      v_outcome := 'recreating';
    else
      v_outcome := case when ingest.wake_sync(v_found.source_id, 'push') then 'woken' else 'pending' end;
  end case;
  perform set_config('penstock.tenant_id', coalesce(v_tenant, ''), true);
  return v_outcome;
end;
$$;
