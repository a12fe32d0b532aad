-- The tenant's sources that a filter selects (as ingest.find_sources), oldest first, with their health, how many documents they have and
-- their last sync. Raises PS012.
create or replace function ingest.list_sources(_filter jsonb default '{}')
returns setof jsonb
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select ingest.source_row(s) || jsonb_build_object(
    'documents', (select count(*) from ingest.document d where d.source_id = s.source_id and d.deleted_at is null),
    'last_job', (
      select ingest.job_row(j) from ingest.ingestion_job j where j.source_id = s.source_id order by j.job_id desc limit 1))
  from ingest.find_sources(_filter) f
  join ingest.source s using (source_id)
  order by s.source_id;
$$;
