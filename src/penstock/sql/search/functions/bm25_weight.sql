-- How much a word weighs in a text by BM25, without the word's idf: _frequency is how often the text has it,
-- _relative_length the length of the text divided by the average. k1 = 1.2 bounds what repetition adds, b = 0.75 says how
-- much a long text is discounted. Inlined into the statement that calls it.
create or replace function search.bm25_weight(_frequency double precision, _relative_length double precision)
returns double precision
language sql
immutable
parallel safe
as $$
  select (search.bm25_k1() + 1) * _frequency
    / (_frequency + search.bm25_k1() * (1 - search.bm25_b()) + search.bm25_k1() * search.bm25_b() * _relative_length);
$$;
