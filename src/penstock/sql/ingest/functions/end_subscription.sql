-- Ends a subscription: the provider no longer knows it (lost), or it was dropped there. Returns false if it had ended before.
-- Locks: the subscription's row. Raises PS012.
create or replace function ingest.end_subscription(_subscription_id uuid, _reason text)
returns boolean
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  update ingest.subscription u set ended_at = internal.clock(), end_reason = _reason
  where u.tenant_id = internal.require_tenant() and u.subscription_id = _subscription_id and u.ended_at is null;
  return found;
end;
$$;
