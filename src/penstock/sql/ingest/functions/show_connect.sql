-- How an attempt to connect a source is going, for the one who started it, with the source's health; null if the tenant has no such
-- attempt. Raises PS012.
create or replace function ingest.show_connect(_state_sha256 bytea)
returns jsonb
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select jsonb_build_object(
    'status', case
      when a.source_id is not null then 'connected'
      when a.error_code is not null then 'failed'
      when a.expires_at <= internal.clock() then 'expired'
      when a.used_at is not null then 'connecting'
      else 'waiting' end,
    'source_id', a.source_id, 'error_code', a.error_code,
    'health', case when s.source_id is not null and s.removed_at is null then ingest.source_health(s) end)
  from ingest.connect_attempt a
  left join ingest.source s on s.source_id = a.source_id
  where a.tenant_id = internal.require_tenant() and a.state_sha256 = _state_sha256;
$$;
