-- The lexemes that a query looks for, in every configuration that the tenant's documents were read with. A word that no document
-- contains is replaced by words that differ from it in one letter, or by the parts of a compound, and `share` says how much of its
-- weight each carries. With a language that writes compounds, parts of known compounds and compounds of neighbouring words are added
-- (`is_added`). So is a number with and without the hyphen before it (search.other_sign). A word that is a stop word in one of several
-- languages is none in the others, unless there is no other word. Raises PS012.
create or replace function search.query_words(_query text)
returns table (text_config text, lexeme text, share double precision, is_added boolean)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id uuid := internal.require_tenant();
  v_configs text[] := array(select u.text_config from ingest.text_config_used u where u.tenant_id = v_tenant_id order by 1);
  v_query text := case when cardinality(v_configs) > 1 then search.without_stop_words(_query, v_configs) else _query end;
  v_read text[];
  v_lexemes text[];
  v_known text[];
  v_compounding text[];
begin
  select array_agg(r.text_config), array_agg(r.lexeme), coalesce(array_agg(r.lexeme) filter (where r.is_known), '{}')
  into v_read, v_lexemes, v_known
  from (
    select u.text_config, l.lexeme,
      exists (select from ingest.lexeme_count c where c.tenant_id = v_tenant_id and c.lexeme = l.lexeme)
      or exists (select from ingest.posting p where p.tenant_id = v_tenant_id and p.lexeme = l.lexeme) as is_known
    from unnest(v_configs) as u (text_config)
    cross join lateral unnest(ingest.lexemes(u.text_config, v_query)) l
  ) r;
  v_compounding := array(
    select c.config from unnest(v_configs) as c (config)
    where c.config in ('german', 'dutch', 'danish', 'swedish', 'norwegian'));
  if v_lexemes is null or (cardinality(v_known) = cardinality(v_lexemes) and v_compounding = '{}') then
    return query
      select r.text_config, r.lexeme, 1::float8, false from unnest(v_read, v_lexemes) as r (text_config, lexeme)
      union all
      select r.text_config, search.other_sign(r.lexeme), 0.75, true from unnest(v_read, v_lexemes) as r (text_config, lexeme)
      where not search.other_sign(r.lexeme) = any (v_lexemes);
    return;
  end if;

  return query
    with word as materialized (
      select w.word, min(w.place) as place
      from regexp_split_to_table(lower(left(v_query, 2000)), '[^[:alnum:]]+') with ordinality as w (word, place)
      where w.word ~ '^[[:alpha:]]{3,40}$'
      group by w.word
      order by 2
      limit 32
    ), read as materialized (
      select w.word, w.place, c.config, l.lexeme, l.lexeme = any (v_known) as is_known
      from word w
      cross join unnest(v_configs) as c (config)
      cross join lateral unnest(to_tsvector(c.config::regconfig, w.word)) l
    ), judged as materialized (
      select r.word, min(r.place) as place, bool_or(r.is_known) as is_known, array_agg(r.lexeme) as lexemes
      from read r
      group by r.word
    ), part as materialized (
      select j.word, j.is_known, p.text_config, p.lexeme
      from (select j.* from judged j where length(j.word) >= 8 order by j.is_known, length(j.word) desc limit 4) j
      cross join lateral search.compound_parts(j.word, v_compounding) p
    ), near as materialized (
      select j.word, n.text_config, n.lexeme, n.share
      from (
        select j.* from judged j
        where not j.is_known and length(j.word) between 5 and 24 and not exists (select from part p where p.word = j.word)
        order by length(j.word) desc limit 3) j
      cross join lateral search.near_words(j.word, v_configs) n
    ), replaced as (
      select unnest(j.lexemes) as lexeme from judged j
      where not j.is_known
        and (exists (select from part p where p.word = j.word) or exists (select from near n where n.word = j.word))
    ), found as (
      select r.text_config, r.lexeme, 1::float8 as share, false as is_added
      from unnest(v_read, v_lexemes) as r (text_config, lexeme)
      where not exists (select from replaced x where x.lexeme = r.lexeme)
      union all
      select p.text_config, p.lexeme, 0.5, p.is_known from part p
      union all
      select n.text_config, n.lexeme, n.share, false from near n
      union all
      select c.text_config, c.lexeme, 0.75, true
      from search.compounds_of(array(select w.word from word w order by w.place limit 8), v_compounding) c
      union all
      select r.text_config, search.other_sign(r.lexeme), 0.75, true from unnest(v_read, v_lexemes) as r (text_config, lexeme)
      where not search.other_sign(r.lexeme) = any (v_lexemes)
    )
    select f.text_config, f.lexeme, max(f.share), bool_and(f.is_added) from found f group by f.text_config, f.lexeme;
end;
$$;
