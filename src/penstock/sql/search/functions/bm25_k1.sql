-- BM25: bounds what repeating a word adds to its weight. Larger values let repetition count for more.
create or replace function search.bm25_k1()
returns double precision
language sql
immutable
parallel safe
as $$
  select 1.2::float8;
$$;
