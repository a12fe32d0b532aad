-- The words that text search looks for: the lexemes of a query in every language of the tenant's documents, their weight (idf),
-- and the average length of a chunk. Rarest first, and only until _budget entries would have been read: frequent lexemes cost
-- the most and say the least. A lexeme without a count is in one chunk. Before the first count the postings themselves are
-- counted. Raises PS012.
create or replace function search.query_terms(_query text, _budget integer default 10000)
returns table (lexeme text, idf double precision, average_length double precision)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id uuid := internal.require_tenant();
  v_statistics ingest.text_statistics;
begin
  select * into v_statistics from ingest.text_statistics s where s.tenant_id = v_tenant_id;
  return query
    with wanted as materialized (
      select distinct l.lexeme from ingest.text_config_used u
      cross join lateral unnest(to_tsvector(u.text_config::regconfig, _query)) l
      where u.tenant_id = v_tenant_id
    ), counted as (
      select w.lexeme, coalesce(c.df, 1) as df from wanted w
      left join ingest.lexeme_count c on c.tenant_id = v_tenant_id and c.lexeme = w.lexeme
      where v_statistics.tenant_id is not null
      union all
      select w.lexeme, greatest(1, c.df) from wanted w
      cross join lateral (
        select coalesce(sum(cardinality(p.entries)), 0) as df
        from (
          select p.entries from ingest.posting p
          where p.tenant_id = v_tenant_id and p.lexeme = w.lexeme limit 5000) p) c
      where v_statistics.tenant_id is null
    ), budgeted as (
      select c.lexeme, c.df, sum(c.df) over (order by c.df, c.lexeme) as entries,
        row_number() over (order by c.df, c.lexeme) as place
      from counted c
    ), total as (
      select greatest(coalesce(v_statistics.chunk_count, max(b.df)), max(b.df)) as chunks from budgeted b
    )
    select b.lexeme, ln(1 + (t.chunks - b.df + 0.5) / (b.df + 0.5))::float8,
      coalesce(nullif(v_statistics.average_length, 0), 100)
    from budgeted b cross join total t
    where b.place = 1 or b.entries <= _budget;
end;
$$;
