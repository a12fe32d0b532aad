-- The passages and clients that search.find() fuses: the nearest and the best matching hundred, or twice _limit if that is more. A
-- passage that is in both lists is returned twice, `is_near` says from which one. If these are passages of so few documents that
-- others are hidden by them (fewer hits than _limit with _per_document of each, and a list that was full), that list is read ten
-- times as deep, once. Lists of an index outside the database (_near, _matched) are taken as they are. _lexemes
-- and _shares: the query's words, if the caller has read them already. For search.find(). Raises
-- PS005, PS012.
create or replace function search.gathered(
  _query text,
  _mode text,
  _limit integer,
  _filter jsonb,
  _models text[],
  _vectors text[],
  _include_clients boolean,
  _near jsonb,
  _matched jsonb,
  _per_document integer,
  _lexemes text[] default null,
  _shares double precision[] default null
)
returns table (
  is_near boolean,
  kind text,
  id uuid,
  generation integer,
  ordinal integer,
  model text,
  score double precision
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id uuid := internal.require_tenant();
  v_depth integer := greatest(100, 2 * _limit);
  v_deeper integer := 10 * v_depth;
  v_document_ids uuid[];
  v_generations integer[];
begin
  select c.document_ids, c.generations into v_document_ids, v_generations from search.candidate_documents(_filter) c;

  return query
    with near as materialized (
      select n.*
      from search.nearest(_models, _vectors, _filter, v_depth, v_document_ids, v_generations) n
      where _mode <> 'text' and _near is null
    ), matched as materialized (
      select m.*
      from search.bm25(_query, _filter, v_depth, v_document_ids, v_generations, 10000, _lexemes, _shares) m
      where _mode <> 'vector' and _matched is null
    ), given as materialized (
      select true as is_near, 'chunk' as kind, n.document_id as id, n.generation, n.ordinal, n.model, n.score
      from search.live_hits(_near, _filter) n
      where _mode <> 'text' and _near is not null
      union all
      select false, 'chunk', m.document_id, m.generation, m.ordinal, null, m.score
      from search.live_hits(_matched, _filter) m
      where _mode <> 'vector' and _matched is not null
      union all
      select true, 'client', n.client_id, 0, 0, n.model, n.score
      from search.nearest_clients(_models, _vectors, _filter, v_depth) n
      where _mode <> 'text' and _include_clients
      union all
      select false, 'client', m.client_id, 0, 0, null, m.score
      from search.bm25_clients(_query, _filter, v_depth) m
      where _mode <> 'vector' and _include_clients
    ), found as (
      select f.kind, f.id, count(distinct f.ordinal) as passages
      from (
        select 'chunk' as kind, n.document_id as id, n.ordinal from near n
        union all
        select 'chunk', m.document_id, m.ordinal from matched m
        union all
        select g.kind, g.id, g.ordinal from given g
      ) f
      group by f.kind, f.id
    ), hidden as materialized (
      select f.near_is_full, f.matched_is_full
      from (
        select exists (select from near n group by n.model having count(*) >= v_depth) as near_is_full,
          (select count(*) from matched) >= v_depth as matched_is_full
      ) f
      where (f.near_is_full or f.matched_is_full)
        and (select sum(least(s.passages, _per_document)) from found s) < _limit
        -- Where every document was found, there is nothing to look for.
        and (select count(*) from found s where s.kind = 'chunk') < coalesce(cardinality(v_document_ids), (
          select count(*)
          from (select from ingest.document d where d.tenant_id = v_tenant_id and d.deleted_at is null limit _limit) d))
    )
    select true, 'chunk', n.document_id, n.generation, n.ordinal, n.model, n.score
    from near n
    where not exists (select from hidden h where h.near_is_full)
    union all
    select true, 'chunk', n.document_id, n.generation, n.ordinal, n.model, n.score
    from hidden h
    cross join lateral search.nearest(_models, _vectors, _filter, v_deeper, v_document_ids, v_generations) n
    where h.near_is_full
    union all
    select false, 'chunk', m.document_id, m.generation, m.ordinal, null, m.score
    from matched m
    where not exists (select from hidden h where h.matched_is_full)
    union all
    select false, 'chunk', m.document_id, m.generation, m.ordinal, null, m.score
    from hidden h
    cross join lateral search.bm25(_query, _filter, v_deeper, v_document_ids, v_generations, 10000, _lexemes, _shares) m
    where h.matched_is_full
    union all
    select g.* from given g;
end;
$$;
