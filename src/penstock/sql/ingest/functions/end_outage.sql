-- Notes that an embedder answered: true when it had been unavailable.
create or replace function ingest.end_outage(_embedder text)
returns boolean
language sql
security definer
set search_path = pg_catalog, pg_temp
as $$
  with ended as (
    delete from internal.embedder_outage o where o.embedder = _embedder returning true
  )
  select exists (select from ended);
$$;
