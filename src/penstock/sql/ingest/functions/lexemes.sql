-- The words of a text as text search finds them. Signs beyond ASCII part words in every locale (ingest.parser_signs), ’ is an apostrophe,
-- dashes within a word or a number are hyphens, and soft hyphens are left out (search.with_hyphens); otherwise “mill” with its quotation
-- marks would be a word, and nobody would find it. It has no settings of its own, so that a statement takes it in: called, it costs as
-- much as reading a short text.
create or replace function ingest.lexemes(_config text, _text text)
returns tsvector
language sql
stable
as $$
  select to_tsvector(_config::regconfig, case when octet_length(_text) = length(_text) then _text
    else regexp_replace(replace(search.with_hyphens(_text), U&'\2019', ''''), ingest.parser_signs(), ' ', 'g') end);
$$;
