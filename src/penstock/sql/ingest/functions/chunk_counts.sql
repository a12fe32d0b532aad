-- How many chunks each of these generations has, and of which model; without those that have none. An index outside the
-- database asks after it wrote points: what is missing here was deleted meanwhile. Raises PS012.
create or replace function ingest.chunk_counts(_document_ids uuid[], _generations integer[])
returns table (document_id uuid, generation integer, model text, chunks bigint)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select c.document_id, c.generation, c.embedding_model, count(*)
  from unnest(_document_ids, _generations) as g (document_id, generation)
  join ingest.chunk c on c.document_id = g.document_id and c.generation = g.generation
  where c.tenant_id = internal.require_tenant()
  group by 1, 2, 3;
$$;
