-- Notes the collection that holds the vectors of a model in an index outside the database. Collections are shared by all
-- tenants, so none is needed. Locks: the collection's row, if it is new or has another size.
create or replace function ingest.note_collection(_model text, _collection text, _dimensions integer)
returns void
language sql
security definer
set search_path = pg_catalog, pg_temp
as $$
  insert into internal.vector_collection as c (model, collection, dimensions, created_at)
  values (_model, _collection, _dimensions, internal.clock())
  on conflict (model) do update set collection = excluded.collection, dimensions = excluded.dimensions
  where (c.collection, c.dimensions) is distinct from (excluded.collection, excluded.dimensions);
$$;
