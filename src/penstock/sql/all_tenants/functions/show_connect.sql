-- How an attempt to connect a source went, for the holder of its page's address: the source and its health.
-- Null if there is no such page, or it is older than a day.
create or replace function all_tenants.show_connect(_progress_sha256 bytea)
returns jsonb
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select jsonb_build_object(
    'kind', a.kind, 'title', k.title, 'tenant', t.slug, 'error_code', a.error_code, 'source', s.name,
    'health', case when s.source_id is not null and s.removed_at is null then ingest.source_health(s) end)
  from ingest.connect_attempt a
  join internal.source_kind k on k.kind = a.kind
  join accounts.tenant t on t.tenant_id = a.tenant_id
  left join ingest.source s on s.source_id = a.source_id
  where a.progress_sha256 = _progress_sha256 and a.finished_at > internal.clock() - interval '1 day';
$$;
