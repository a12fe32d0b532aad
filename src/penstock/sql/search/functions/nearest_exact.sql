-- The chunks nearest to a vector among all live ones that match the filter, compared one by one; with a selective filter only
-- the chunks of its few documents are read. Raises PS005, PS012.
create or replace function search.nearest_exact(
  _model text, _vector text, _filter jsonb, _depth integer, _document_ids uuid[], _generations integer[]
)
returns table (document_id uuid, generation integer, ordinal integer, score double precision)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_schema text := ingest.require_vectors();
begin
  return query execute format(
    'select v.document_id, v.generation, v.ordinal, -(v.embedding operator(%1$s.<#>) %2$L::%1$s.halfvec) as score
     from ingest.chunk_vector v
     join %3$s on d.document_id = v.document_id and d.live_generation = v.generation
     where v.tenant_id = %4$L::uuid and v.model = %5$L
     order by 4 desc limit %6$s',
    v_schema, _vector,
    case when _document_ids is null
      then format('(select d.document_id, %s as live_generation from ingest.document d where d.tenant_id = %L::uuid and %s) d',
        search.shown_generation(_filter), internal.require_tenant(), search.document_filter(_filter))
      else 'unnest($1, $2) as d (document_id, live_generation)'
    end,
    internal.require_tenant(), _model, _depth)
  using _document_ids, _generations;
end;
$$;
