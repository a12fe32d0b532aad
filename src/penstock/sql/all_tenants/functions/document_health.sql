-- What an operator should know about documents of every tenant: how many failed and why, how many wait for an embedder or are
-- indexed with a fallback, and which embedders are unavailable since when.
create or replace function all_tenants.document_health()
returns jsonb
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select jsonb_build_object(
    'failed', coalesce((
      select jsonb_object_agg(f.reason, f.documents) from (
        select coalesce(d.reason_code, 'unknown') as reason, count(*) as documents
        from ingest.document d where d.status = 'failed' and d.deleted_at is null group by 1
      ) f), '{}'),
    'waiting', (
      select count(*) from ingest.document d
      where d.status = 'pending' and d.deleted_at is null and d.reason_code = 'embedder_unavailable'),
    'fallback', (
      select count(*) from ingest.document d where d.fallback_embedder is not null and d.deleted_at is null),
    'outages', coalesce((
      select jsonb_agg(to_jsonb(o) order by o.embedder) from ingest.outages() o), '[]'));
$$;
