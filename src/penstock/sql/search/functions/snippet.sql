-- The parts of a text that match best, the matches between U+E000 and U+E001. Signs that text search takes for letters where the locale is C
-- (ingest.parser_signs) stand apart from the words for as long as they are compared.
create or replace function search.snippet(_config text, _text text, _marks tsquery)
returns text
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
  select translate(ts_headline(
    _config::regconfig,
    case when octet_length(_text) = length(_text) then _text
      else regexp_replace(
        translate(_text, U&'\E000\E001', ''), '(' || ingest.parser_signs() || U&'|\2019)', E'\x01\\1\x01', 'g') end,
    coalesce(_marks, ''::tsquery),
    U&'StartSel="\E000", StopSel="\E001", MaxFragments=2, MaxWords=30, MinWords=12, FragmentDelimiter=" … "'), E'\x01', '');
$$;
