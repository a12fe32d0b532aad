-- A text-search query that any of these lexemes answers; null without lexemes.
create or replace function ingest.lexeme_query(_lexemes text[])
returns tsquery
language sql
immutable
parallel safe
as $$
  select string_agg('''' || replace(replace(l.lexeme, '\', '\\'), '''', '''''') || '''', ' | ')::tsquery
  from unnest(_lexemes) l (lexeme);
$$;
