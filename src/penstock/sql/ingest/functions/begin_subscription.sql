-- Says what to do about a source's subscription: create (a row is written first, with the hash of the state that notifications
-- will carry), renew, drop (the source is paused), or none. A subscription that expired is ended, and another one created.
-- Locks: the source's row, its live subscription. Raises PS012.
create or replace function ingest.begin_subscription(_source_id uuid, _subscription_id uuid, _client_state_sha256 bytea)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := internal.clock();
  v_source ingest.source;
  v_live ingest.subscription;
  v_failures integer;
  v_mode text;
begin
  select * into v_source from ingest.source s
  where s.tenant_id = internal.require_tenant() and s.source_id = _source_id and s.removed_at is null for update;
  select * into v_live from ingest.subscription u
  where u.source_id = v_source.source_id and u.ended_at is null for update;
  v_failures := coalesce(v_live.failures, 0);
  v_mode := case
    when v_source.source_id is null or v_source.status = 'error' then 'none'
    when v_source.status = 'paused' then case when v_live.created_at is null then 'none' else 'drop' end
    when v_live.expires_at > v_now then case when v_live.renew_at > v_now then 'none' else 'renew' end
    else 'create' end;
  if v_live.created_at is null or v_mode = 'create' then
    update ingest.subscription u set
      ended_at = v_now, end_reason = case when u.created_at is null then 'abandoned' else 'expired' end
    where u.subscription_id = v_live.subscription_id;
  end if;
  if v_mode = 'create' then
    insert into ingest.subscription (subscription_id, source_id, tenant_id, client_state_sha256, requested_at, failures)
    values (_subscription_id, _source_id, v_source.tenant_id, _client_state_sha256, v_now, v_failures)
    returning * into v_live;
  end if;
  return jsonb_build_object('mode', v_mode) || case when v_mode = 'none' then '{}' else jsonb_build_object(
    'subscription_id', v_live.subscription_id, 'provider_id', v_live.provider_id, 'details', v_live.details,
    'expires_at', v_live.expires_at, 'kind', v_source.kind, 'account', v_source.account, 'config', v_source.config,
    'has_token', v_source.access_token_vault_id is not null) end;
end;
$$;
