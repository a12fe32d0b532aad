-- The chunks nearest to a vector by the tenant's HNSW index, which scans on until enough live ones match the filter. The tenant
-- and the model are part of the text, or the partial index would not match; the settings leave the planner only the index in
-- its order, then the document by its key. Raises PS005, PS012.
create or replace function search.nearest_indexed(_model text, _vector text, _filter jsonb, _depth integer)
returns table (document_id uuid, generation integer, ordinal integer, score double precision)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set enable_sort = off
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  v_schema text := ingest.require_vectors();
  v_dimensions integer := length(_vector) - length(replace(_vector, ',', '')) + 1;
begin
  perform set_config('hnsw.iterative_scan', 'relaxed_order', true);
  -- Recall@10 at 100,000 chunks: four times the depth 0.965, five times 0.977, six times 0.982 to 0.985; each costs a millisecond. With
  -- a graph built half as carefully (ingest.build_vector_index) the same recall takes eight times.
  perform set_config('hnsw.ef_search', least(1000, 6 * _depth)::text, true);
  return query execute format(
    'with near as materialized (
       select v.document_id, v.generation, v.ordinal,
         v.embedding::%1$s.halfvec(%2$s) operator(%1$s.<#>) %3$L::%1$s.halfvec(%2$s) as distance
       from ingest.chunk_vector v
       join ingest.document d on d.document_id = v.document_id and %8$s = v.generation
       where v.tenant_id = %4$L::uuid and v.model = %5$L and %6$s
       order by 4 limit %7$s)
     select n.document_id, n.generation, n.ordinal, -n.distance from near n',
    v_schema, v_dimensions, _vector, internal.require_tenant(), _model, search.document_filter(_filter), _depth,
    search.shown_generation(_filter));
end;
$$;
