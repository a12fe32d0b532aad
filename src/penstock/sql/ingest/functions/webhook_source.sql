-- The tenant's own webhook source, or null. Raises PS012.
create or replace function ingest.webhook_source()
returns jsonb
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select to_jsonb(s) - 'tenant_id' from ingest.source s
  where s.tenant_id = internal.require_tenant() and s.kind = 'webhook' and s.removed_at is null;
$$;
