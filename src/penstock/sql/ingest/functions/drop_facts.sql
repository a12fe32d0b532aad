-- Deletes all facts of items that are gone, and rolls up the clients they were about; a client whose own item is gone goes too.
-- Locks: the source's facts (advisory), then client rows by external id. Raises PS012, PS013.
create or replace function ingest.drop_facts(_source_id uuid, _external_ids text[])
returns void
language sql
security definer
set search_path = pg_catalog, pg_temp
as $$
  select ingest.put_facts(_source_id, _external_ids, '[]');
$$;
