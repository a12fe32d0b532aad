-- The hits of an index outside the database ({document_id, generation, ordinal, model, score}), without those of generations that
-- are not live, of deleted documents and of documents that the filter excludes. Raises PS012.
create or replace function search.live_hits(_hits jsonb, _filter jsonb)
returns table (document_id uuid, generation integer, ordinal integer, model text, score double precision)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return query execute format(
    'select h.document_id, h.generation, h.ordinal, h.model, h.score
     from jsonb_to_recordset($1) as h (document_id uuid, generation integer, ordinal integer, model text, score float8)
     join ingest.document d on d.document_id = h.document_id and %s = h.generation
     where d.tenant_id = %L::uuid and %s',
    search.shown_generation(_filter), internal.require_tenant(), search.document_filter(_filter))
  using _hits;
end;
$$;
