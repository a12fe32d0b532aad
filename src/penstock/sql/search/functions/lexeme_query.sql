-- A text-search query that matches any of these lexemes; null without lexemes.
create or replace function search.lexeme_query(_lexemes text[])
returns tsquery
language sql
immutable
parallel safe
as $$
  select string_agg('''' || replace(replace(l.lexeme, '\', '\\'), '''', '''''') || '''', ' | ')::tsquery
  from unnest(_lexemes) l (lexeme);
$$;
