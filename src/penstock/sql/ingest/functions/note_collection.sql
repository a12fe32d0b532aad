-- Notes the collection that holds the vectors of a model in an index outside the database. Collections are shared by all
-- tenants, so none is needed. Nothing is said of what the conflict is about: of two that note the same at once, the second may meet the
-- first one's collection before its model. Locks: the collection's row, if it is new or has another size.
create or replace function ingest.note_collection(_model text, _collection text, _dimensions integer)
returns void
language sql
security definer
set search_path = pg_catalog, pg_temp
as $$
  insert into internal.vector_collection (model, collection, dimensions, created_at)
  values (_model, _collection, _dimensions, internal.clock())
  on conflict do nothing;
  update internal.vector_collection c set collection = _collection, dimensions = _dimensions
  where c.model = _model and (c.collection, c.dimensions) is distinct from (_collection, _dimensions);
$$;
