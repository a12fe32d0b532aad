-- Hybrid search: how much nearness by a model counts beside words, from 0 (words only) to 1 (vectors only). _standout says by how many
-- standard deviations the nearest passage stands out from all that were found: where a model knows what a question is about, it does by
-- four and more; where it does not (another language, misspelt words, codes), all are about as near, and words decide. Null if too few were
-- found to tell. Measured on question sets where words win and where vectors win (docs/decisions/0047-how-hybrid-search-fuses.md).
create or replace function search.vector_weight(_model text, _standout double precision default null)
returns double precision
language sql
immutable
parallel safe
as $$
  select case
    when _standout is not null then 0.1 + 0.5 * greatest(0, least(1, (_standout - 2.5) / 2))
    when _model like 'wordllama%' then 0.4
    else 0.5
  end::float8;
$$;
