-- The embedders that are unavailable, since when and why.
create or replace function ingest.outages()
returns table (embedder text, since timestamptz, failed_at timestamptz, retry_at timestamptz, failures integer, reason text)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select o.embedder, o.since, o.failed_at, o.retry_at, o.failures, o.reason from internal.embedder_outage o;
$$;
