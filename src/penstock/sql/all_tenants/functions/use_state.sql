-- Uses up the state of an attempt to connect a source, of whichever tenant it is, and returns what the attempt was about; null
-- if the state is unknown, has expired, was used before, or the key that asked for it is no longer valid. Two calls at once:
-- one gets null.
-- Locks: the attempt's row, waiting for another call with the same state.
create or replace function all_tenants.use_state(_state_sha256 bytea)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_used jsonb;
begin
  update ingest.connect_attempt a set used_at = internal.clock()
  from internal.source_kind k, accounts.tenant t
  where a.state_sha256 = _state_sha256 and a.used_at is null and a.expires_at > internal.clock()
    and k.kind = a.kind and t.tenant_id = a.tenant_id and t.status = 'active'
    and not exists (
      select from accounts.api_key y
      where y.tenant_id = a.tenant_id and a.requested_by = 'key:' || y.key_id
        and (y.revoked_at is not null or y.expires_at <= internal.clock()))
  returning jsonb_build_object(
    'tenant_id', a.tenant_id, 'project_id', a.project_id, 'kind', a.kind, 'title', k.title, 'redirect_uri', a.redirect_uri,
    'verifier_secret_id', a.verifier_secret_id, 'tenant', t.slug, 'requested_by', a.requested_by,
    'key_name', (
      select y.name from accounts.api_key y where y.tenant_id = a.tenant_id and a.requested_by = 'key:' || y.key_id
      union all
      select o.name from internal.operator_key o where a.requested_by = 'key:' || o.key_id))
  into v_used;
  return v_used;
end;
$$;
