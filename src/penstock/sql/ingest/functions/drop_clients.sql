-- Deletes what a source stated about clients: its facts, its client rows and what a person decided about them. Part of removing
-- a source together with its documents. Locks: the source's facts (advisory), then the rows it deletes. Raises PS012, PS013.
create or replace function ingest.drop_clients(_source_id uuid)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform ingest.lock_facts(_source_id);
  delete from ingest.client_fact f where f.source_id = _source_id;
  with gone as (
    delete from ingest.client_intelligence c where c.source_id = _source_id returning c.client_id
  ), apart as (
    delete from ingest.client_apart a using gone g where a.client_id = g.client_id
  )
  delete from ingest.client_join j using gone g where g.client_id in (j.client_id, j.other_id);
end;
$$;
