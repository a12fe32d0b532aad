-- The live chunks nearest to a query, which is given as one vector per model in use: exact among the few documents of a selective
-- filter and for a tenant without an index, otherwise by the index; and exact again if the index returned too few.
-- Raises PS005, PS012.
create or replace function search.nearest(
  _models text[], _vectors text[], _filter jsonb, _depth integer, _document_ids uuid[], _generations integer[]
)
returns table (document_id uuid, generation integer, ordinal integer, model text, score double precision)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id uuid := internal.require_tenant();
  v_model text;
  v_vector text;
  v_rows bigint;
begin
  for v_model, v_vector in select g.model, g.vector from unnest(_models, _vectors) as g (model, vector) loop
    if _document_ids is null
      and exists (select from ingest.vector_index i where i.tenant_id = v_tenant_id and i.model = v_model)
    then
      return query
        with near as materialized (
          select n.* from search.nearest_indexed(v_model, v_vector, _filter, _depth) n
        )
        select n.document_id, n.generation, n.ordinal, v_model, n.score from near n
        where (select count(*) from near) = _depth;
      get diagnostics v_rows = row_count;
      continue when v_rows > 0;
    end if;
    return query
      select n.document_id, n.generation, n.ordinal, v_model, n.score
      from search.nearest_exact(v_model, v_vector, _filter, _depth, _document_ids, _generations) n;
  end loop;
end;
$$;
