-- The live chunks that match a query best by BM25 (search.bm25_weight), from the postings of its rarest lexemes. With a
-- selective filter only the postings of its few documents are read. Without a filter nearly all postings are live, so the best
-- are taken first and checked afterwards; only if too few of them are live is every posting checked. The query's words go into
-- the statements as parameters, never as text. _lexemes and _shares: these words, if the caller has read them already. Raises PS012.
create or replace function search.bm25(
  _query text, _filter jsonb, _depth integer, _document_ids uuid[], _generations integer[], _budget integer default 10000,
  _lexemes text[] default null, _shares double precision[] default null
)
returns table (document_id uuid, generation integer, ordinal integer, score double precision)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id uuid := internal.require_tenant();
  v_documents text := 'join unnest($5, $6) as d (document_id, live_generation)
    on d.document_id = p.document_id and d.live_generation = p.generation';
  v_lexemes text[];
  v_idfs double precision[];
  v_average double precision;
  v_head text;
  v_tail text;
  v_rows integer;
begin
  select array_agg(t.lexeme), array_agg(t.idf), max(t.average_length) into v_lexemes, v_idfs, v_average
  from search.query_terms(_query, _budget, _lexemes, _shares) t;
  if v_lexemes is null then
    return;
  end if;
  if _document_ids is null then
    v_documents := 'join ingest.document d on d.document_id = p.document_id and '
      || search.shown_generation(_filter) || ' = p.generation
      and d.tenant_id = $1 and ' || search.document_filter(_filter);
  end if;
  -- unnest() in the select list: as a lateral table per posting it took half of the time.
  v_head := 'select e.document_id, e.generation, (e.entry >> 32)::integer as ordinal,
      sum(e.idf * search.bm25_weight((e.entry >> 16 & 65535)::float8, $2 * (e.entry & 65535))) as score
    from (
      select p.document_id, p.generation, t.idf, unnest(p.entries) as entry
      from unnest($3, $4) as t (lexeme, idf)
      join ingest.posting p on p.tenant_id = $1 and p.lexeme = t.lexeme
      ';
  v_tail := ') e
    group by 1, 2, 3
    order by 4 desc, 1, 3
    limit ';

  if _filter = '{}' then
    -- The limit makes it a lookup by key for each of the best, not a scan of all documents.
    return query execute
      'with best as materialized (' || v_head || v_tail || '3 * $5), live as materialized (
         select b.* from best b
         cross join lateral (
           select from ingest.document d
           where d.document_id = b.document_id and d.live_generation = b.generation and d.tenant_id = $1
           limit 1) d)
       select * from live l
       where (select count(*) from live) >= $5 or (select count(*) from best) < 3 * $5
       order by l.score desc, l.document_id, l.ordinal
       limit $5'
    using v_tenant_id, 1 / v_average, v_lexemes, v_idfs, _depth;
    get diagnostics v_rows = row_count;
    if v_rows > 0 then
      return;
    end if;
  end if;
  return query execute v_head || v_documents || v_tail || '$7'
  using v_tenant_id, 1 / v_average, v_lexemes, v_idfs, _document_ids, _generations, _depth;
end;
$$;
