-- Notes that the provider created or renewed a subscription. It is renewed again at half of its life, or after _renew_every if
-- that is sooner. What came in before a new one was created is read by a sync. Returns false if the subscription has ended
-- meanwhile: the caller drops it at the provider. Locks: the subscription's row. Raises PS012.
create or replace function ingest.put_subscription(
  _subscription_id uuid, _provider_id text, _expires_at timestamptz, _details jsonb default '{}', _renew_every interval default null
)
returns boolean
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := internal.clock();
  v_is_new boolean;
  v_source_id uuid;
begin
  select u.created_at is null, u.source_id into v_is_new, v_source_id from ingest.subscription u
  where u.tenant_id = internal.require_tenant() and u.subscription_id = _subscription_id and u.ended_at is null
  for update;
  if not found then
    return false;
  end if;
  update ingest.subscription u set
    provider_id = _provider_id, details = _details, created_at = coalesce(u.created_at, v_now), renewed_at = v_now,
    expires_at = _expires_at,
    renew_at = v_now + greatest(least((_expires_at - v_now) / 2, _renew_every), interval '1 minute'),
    failures = 0, error_code = null, error_message = null, next_try_at = null
  where u.subscription_id = _subscription_id;
  update ingest.source s set address = lower(_details ->> 'address')
  where s.source_id = v_source_id and lower(_details ->> 'address') <> coalesce(s.address, '');
  if v_is_new then
    perform ingest.wake_sync(s.source_id, 'subscribed') from ingest.source s
    where s.source_id = v_source_id and s.status not in ('paused', 'error') and s.removed_at is null;
  end if;
  return true;
end;
$$;
