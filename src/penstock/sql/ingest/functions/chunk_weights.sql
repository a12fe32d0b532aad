-- The lexemes of staged chunks with their BM25 weight without the idf, for an index that keeps sparse vectors outside
-- the database. Raises PS012.
create or replace function ingest.chunk_weights(_document_id uuid, _generation integer, _ordinals integer[])
returns table (ordinal integer, lexemes text[], weights double precision[])
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select (e.entry >> 32)::integer, array_agg(p.lexeme),
    array_agg(search.bm25_weight(f.frequency, (e.entry & 65535) / coalesce(s.average, 100)))
  from ingest.posting p
  cross join lateral unnest(p.entries) as e (entry)
  cross join lateral (select e.entry >> 16 & 65535 as frequency) f
  left join (
    select t.tenant_id, nullif(t.average_length, 0) as average from ingest.text_statistics t
  ) s on s.tenant_id = p.tenant_id
  where p.tenant_id = internal.require_tenant()
    and p.document_id = _document_id
    and p.generation = _generation
    and (e.entry >> 32)::integer = any (_ordinals)
  group by 1;
$$;
