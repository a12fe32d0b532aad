-- A text as a value in the query of a link: the characters that mean something there are escaped.
create or replace function internal.in_query(_text text)
returns text
language sql
immutable
parallel safe
as $$
  select replace(replace(replace(replace(replace(_text, '%', '%25'), '&', '%26'), '+', '%2B'), '#', '%23'), ' ', '+');
$$;
