-- The indexed lexemes that a word becomes when one letter is missing, added, replaced or swapped with its neighbour: at most
-- three, the most frequent first, which share the weight of a word that may be misspelt. Looks up some hundred variants by
-- key, whatever the size of the vocabulary. Raises PS012.
create or replace function search.near_words(_word text, _configs text[])
returns table (text_config text, lexeme text, share double precision)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  with tenant as materialized (
    select internal.require_tenant() as id
  ), variant as (
    select string_agg(v.word, ' ') as words from search.one_edit(_word, _configs) as v (word)
  ), read as materialized (
    select c.config, l.lexeme
    from variant v
    cross join unnest(_configs) as c (config)
    cross join lateral unnest(to_tsvector(c.config::regconfig, v.words)) l
  ), indexed as (
    select r.config, r.lexeme, coalesce(c.df, 1) as df
    from read r
    cross join tenant t
    cross join lateral (select from ingest.posting p where p.tenant_id = t.id and p.lexeme = r.lexeme limit 1) p
    left join ingest.lexeme_count c on c.tenant_id = t.id and c.lexeme = r.lexeme
    order by df desc, r.lexeme, r.config
    limit 3
  )
  select i.config, i.lexeme, 0.8 / count(*) over () from indexed i;
$$;
