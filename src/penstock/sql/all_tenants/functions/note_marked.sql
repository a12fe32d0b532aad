-- Notes that an index outside the database has marked these generations as deleted; a day later they are removed.
-- Locks: their rows in ingest.sweep.
create or replace function all_tenants.note_marked(_document_ids uuid[], _generations integer[])
returns void
language sql
security definer
set search_path = pg_catalog, pg_temp
as $$
  update ingest.sweep s set marked_at = internal.clock()
  from unnest(_document_ids, _generations) as g (document_id, generation)
  where s.document_id = g.document_id and s.generation = g.generation and s.marked_at is null;
$$;
