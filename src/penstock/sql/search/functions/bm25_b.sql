-- BM25: how much a text's length discounts its words, from 0 (not at all) to 1 (in full).
create or replace function search.bm25_b()
returns double precision
language sql
immutable
parallel safe
as $$
  select 0.75::float8;
$$;
