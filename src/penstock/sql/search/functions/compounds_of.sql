-- The indexed compounds of words that stand near each other in a query, in either order ("vertrag", "wartung": wartungsvertrag).
-- Raises PS012.
create or replace function search.compounds_of(_words text[], _configs text[])
returns table (text_config text, lexeme text)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  with tenant as materialized (
    select internal.require_tenant() as id
  ), word as (
    select w.word, w.place from unnest(_words) with ordinality as w (word, place)
    where exists (select from unnest(_configs) as c (config) where to_tsvector(c.config::regconfig, w.word) <> ''::tsvector)
  ), joined as (
    select string_agg(distinct a.word || j.joint || b.word, ' ') as words
    from word a
    join word b on b.word <> a.word and abs(b.place - a.place) <= 3
    cross join unnest(array['', 's', 'es', 'n', 'en']) as j (joint)
  ), read as materialized (
    select distinct c.config, l.lexeme
    from joined g
    cross join unnest(_configs) as c (config)
    cross join lateral unnest(to_tsvector(c.config::regconfig, g.words)) l
  )
  select r.config, r.lexeme
  from read r
  cross join tenant t
  cross join lateral (select from ingest.posting p where p.tenant_id = t.id and p.lexeme = r.lexeme limit 1) p;
$$;
