-- The words that text search looks for: the lexemes of a query (search.query_words), their weight (idf times share), and the average
-- length of a chunk. Rarest first, and only until _budget entries would have been read: frequent lexemes cost the most and say the
-- least. A lexeme without a count is in one chunk. Before the first count the postings themselves are counted. _lexemes and
-- _shares: the query's words, if the caller has read them already. Raises PS012.
create or replace function search.query_terms(
  _query text, _budget integer default 10000, _lexemes text[] default null, _shares double precision[] default null
)
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
  if _lexemes is null then
    select array_agg(w.lexeme), array_agg(w.share) into _lexemes, _shares from search.query_words(_query) w;
  end if;
  return query
    with wanted as materialized (
      select w.lexeme, max(w.share) as share from unnest(_lexemes, _shares) as w (lexeme, share) group by w.lexeme
    ), counted as (
      select w.lexeme, w.share, coalesce(c.df, 1) as df from wanted w
      left join ingest.lexeme_count c on c.tenant_id = v_tenant_id and c.lexeme = w.lexeme
      where v_statistics.tenant_id is not null
      union all
      select w.lexeme, w.share, greatest(1, c.df) from wanted w
      cross join lateral (
        select coalesce(sum(cardinality(p.entries)), 0) as df
        from (
          select p.entries from ingest.posting p
          where p.tenant_id = v_tenant_id and p.lexeme = w.lexeme limit 5000) p) c
      where v_statistics.tenant_id is null
    ), budgeted as (
      select c.lexeme, c.share, c.df, sum(c.df) over (order by c.df, c.lexeme) as entries,
        row_number() over (order by c.df, c.lexeme) as place
      from counted c
    ), total as (
      select greatest(coalesce(v_statistics.chunk_count, max(b.df)), max(b.df)) as chunks from budgeted b
    )
    select b.lexeme, b.share * ln(1 + (t.chunks - b.df + 0.5) / (b.df + 0.5))::float8,
      coalesce(nullif(v_statistics.average_length, 0), 100)
    from budgeted b cross join total t
    where b.place = 1 or b.entries <= _budget;
end;
$$;
