-- How much each word of a query weighs, for every language of the tenant's documents: the weights of a language add up to one,
-- rare words weigh more, words that were only added (search.query_words) nothing. The weights of the words that a hit
-- contains are its coverage. _configs, _lexemes, _shares and _added: the query's words, if the caller has read them already.
-- Raises PS012.
create or replace function search.term_weights(
  _query text,
  _configs text[] default null,
  _lexemes text[] default null,
  _shares double precision[] default null,
  _added boolean[] default null
)
returns table (text_config text, lexeme text, weight double precision)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  with word as materialized (
    select w.* from unnest(_configs, _lexemes, _shares, _added) as w (text_config, lexeme, share, is_added)
    where _lexemes is not null
    union all
    select w.* from search.query_words(_query) w where _lexemes is null
  ), counted as (
    select t.lexeme, t.idf from search.query_terms(
      _query, 2147483647, (select array_agg(w.lexeme) from word w), (select array_agg(w.share) from word w)) t
  )
  select w.text_config, w.lexeme, coalesce(
    case when not w.is_added then c.idf / nullif(sum(c.idf) filter (where not w.is_added) over (partition by w.text_config), 0) end, 0)
  from word w
  join counted c on c.lexeme = w.lexeme;
$$;
