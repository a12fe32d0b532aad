-- The clients nearest to a query, compared one by one: a tenant has thousands, not millions. Raises PS012.
create or replace function search.nearest_clients(_models text[], _vectors text[], _filter jsonb, _depth integer)
returns table (client_id uuid, model text, score double precision)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if to_regclass('ingest.client_vector') is null or not search.clients_match(_filter) then
    return;
  end if;
  return query execute format(
    'select v.client_id, v.model, -(v.embedding operator(%1$s.<#>) g.vector::%1$s.halfvec) as score
     from unnest($1, $2) as g (model, vector)
     join ingest.client_vector v on v.model = g.model and v.tenant_id = $3
     join ingest.client_intelligence c on c.client_id = v.client_id
     where (not $4 ? ''projects'' or c.project_id = any (array(select jsonb_array_elements_text($4 -> ''projects'')::uuid)))
       and (not $4 ? ''sources'' or c.source_id = any (array(select jsonb_array_elements_text($4 -> ''sources'')::uuid)))
     order by 3 desc limit $5', ingest.vector_schema())
  using _models, _vectors, internal.require_tenant(), _filter, _depth;
end;
$$;
