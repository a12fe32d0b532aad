-- A query without the words that are stop words in one of these configurations: read in another language they would look rare, and
-- weigh more than the words that matter. The whole query if nothing else is left.
create or replace function search.without_stop_words(_query text, _configs text[])
returns text
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
  select case when s.words is null or r.rest !~ '[[:alnum:]]' then _query else r.rest end
  from (
    select '\m(' || string_agg(w.word, '|') || ')\M' as words
    from (
      select distinct lower(m.match[1]) as word
      from regexp_matches(left(_query, 2000), '\m[[:alpha:]]{1,12}\M', 'g') as m (match)
      limit 100
    ) w
    where exists (select from unnest(_configs) as c (config) where to_tsvector(c.config::regconfig, w.word) = ''::tsvector)
  ) s
  cross join lateral (select regexp_replace(_query, coalesce(s.words, '^$'), ' ', 'gi') as rest) r;
$$;
