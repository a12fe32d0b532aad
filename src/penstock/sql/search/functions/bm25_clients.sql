-- The clients that match a query best by BM25, with the weights of the tenant's chunks, so that the scores are comparable.
-- Raises PS012.
create or replace function search.bm25_clients(_query text, _filter jsonb, _depth integer)
returns table (client_id uuid, score double precision)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id uuid := internal.require_tenant();
  v_lexemes text[];
  v_idfs double precision[];
  v_average double precision;
begin
  if not search.clients_match(_filter)
    or not exists (select from ingest.client_text t where t.tenant_id = v_tenant_id)
  then
    return;
  end if;
  select array_agg(t.lexeme), array_agg(t.idf), max(t.average_length) into v_lexemes, v_idfs, v_average
  from search.query_terms(_query) t;
  return query
    select t.client_id, sum(w.idf * search.bm25_weight(f.frequency, t.text_length / v_average))
    from ingest.client_text t
    join ingest.client_intelligence c on c.client_id = t.client_id
    cross join lateral unnest(t.lexemes) l
    join unnest(v_lexemes, v_idfs) as w (lexeme, idf) on w.lexeme = l.lexeme
    cross join lateral (select greatest(1, cardinality(l.positions)) as frequency) f
    where t.tenant_id = v_tenant_id
      and t.lexemes @@ search.lexeme_query(v_lexemes)
      and (not _filter ? 'projects' or c.project_id = any (array(select jsonb_array_elements_text(_filter -> 'projects')::uuid)))
      and (not _filter ? 'sources' or c.source_id = any (array(select jsonb_array_elements_text(_filter -> 'sources')::uuid)))
    group by t.client_id
    order by 2 desc, 1
    limit _depth;
end;
$$;
