-- The collections of an index outside the database, with the model whose vectors each holds.
create or replace function search.vector_collections()
returns table (model text, collection text, dimensions integer, created_at timestamptz)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select c.model, c.collection, c.dimensions, c.created_at from internal.vector_collection c order by c.model;
$$;
