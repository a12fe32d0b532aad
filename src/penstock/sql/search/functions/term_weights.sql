-- How much each word of a query weighs, for every language of the tenant's documents: the weights of a language add up to one,
-- rare words weigh more. The weights of the words that a hit contains are its coverage. Raises PS012.
create or replace function search.term_weights(_query text)
returns table (text_config text, lexeme text, weight double precision)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select u.text_config, l.lexeme, t.idf / nullif(sum(t.idf) over (partition by u.text_config), 0)
  from ingest.text_config_used u
  cross join lateral unnest(to_tsvector(u.text_config::regconfig, _query)) l
  join search.query_terms(_query, 2147483647) t on t.lexeme = l.lexeme
  where u.tenant_id = internal.require_tenant();
$$;
