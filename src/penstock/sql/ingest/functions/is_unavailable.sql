-- Whether an embedder was noted as unavailable and has not answered since.
create or replace function ingest.is_unavailable(_embedder text)
returns boolean
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select exists (select from internal.embedder_outage o where o.embedder = _embedder);
$$;
