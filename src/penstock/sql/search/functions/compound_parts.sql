-- The two indexed lexemes that a compound is made of ("wartungsvertrag": wartung, vertrag), without the letters that join them; the
-- split whose rarer part is most frequent. Empty for other words. Raises PS012.
create or replace function search.compound_parts(_word text, _configs text[])
returns table (text_config text, lexeme text)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  with tenant as materialized (
    select internal.require_tenant() as id
  ), split as (
    select left(_word, i) as first, substr(_word, i + 1) as second
    from generate_series(3, length(_word) - 4) i
  ), candidate as (
    select distinct left(s.first, -length(j.joint)) as first, s.second
    from split s
    join unnest(array['s', 'es', 'n', 'en', 'er', 'e']) as j (joint) on s.first like '%' || j.joint
    where length(s.first) - length(j.joint) >= 3
    union
    select s.first, s.second from split s
  ), read as materialized (
    select c.config, d.first, d.second,
      (tsvector_to_array(to_tsvector(c.config::regconfig, d.first)))[1] as head,
      (tsvector_to_array(to_tsvector(c.config::regconfig, d.second)))[1] as tail
    from candidate d cross join unnest(_configs) as c (config)
  ), counted as (
    select r.*, h.df as head_df, t.df as tail_df
    from read r
    cross join tenant o
    cross join lateral (
      select coalesce((select c.df from ingest.lexeme_count c where c.tenant_id = o.id and c.lexeme = r.head), 1) as df
      from ingest.posting p where p.tenant_id = o.id and p.lexeme = r.head limit 1) h
    cross join lateral (
      select coalesce((select c.df from ingest.lexeme_count c where c.tenant_id = o.id and c.lexeme = r.tail), 1) as df
      from ingest.posting p where p.tenant_id = o.id and p.lexeme = r.tail limit 1) t
    order by least(h.df, t.df) desc, length(r.first) + length(r.second) desc, r.first
    limit 1
  )
  select c.config, p.lexeme from counted c cross join lateral (values (c.head), (c.tail)) as p (lexeme);
$$;
