-- The live chunks that match a query best by BM25 (k1 1.2, b 0.75), over the postings of its rarest lexemes. Given the
-- few documents of a selective filter, only theirs count. Raises PS012.
create or replace function ingest.bm25(
  _query text, _filter jsonb, _depth integer, _document_ids uuid[], _generations integer[], _budget integer default 10000
)
returns table (document_id uuid, generation integer, ordinal integer, score double precision)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_lexemes text[];
  v_idfs double precision[];
  v_average double precision;
begin
  select array_agg(t.lexeme), array_agg(2.2 * t.idf), max(t.average_length) into v_lexemes, v_idfs, v_average
  from ingest.query_terms(_query, _budget) t;
  if v_lexemes is null then
    return;
  end if;
  return query execute format(
    'select p.document_id, p.generation, (e.entry >> 32)::integer,
       sum(t.idf * (e.entry >> 16 & 65535) / ((e.entry >> 16 & 65535) + 0.3::float8 + %L::float8 * (e.entry & 65535)))
     from unnest(%L::text[], %L::float8[]) as t (lexeme, idf)
     join ingest.posting p on p.tenant_id = %L::uuid and p.lexeme = t.lexeme
     join %s on d.document_id = p.document_id and d.live_generation = p.generation
     cross join lateral unnest(p.entries) as e (entry)
     group by 1, 2, 3
     order by 4 desc, 1, 3
     limit %s',
    0.9 / v_average, v_lexemes, v_idfs, internal.require_tenant(),
    case when _document_ids is null
      then format('(select d.document_id, d.live_generation from ingest.document d where d.tenant_id = %L::uuid and %s) d',
        internal.require_tenant(), ingest.document_filter(_filter))
      else 'unnest($1, $2) as d (document_id, live_generation)'
    end,
    _depth)
  using _document_ids, _generations;
end;
$$;
