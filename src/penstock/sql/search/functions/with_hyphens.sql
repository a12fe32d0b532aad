-- A text in which the dashes that Word and PDF write within codes and numbers (U+2010 to U+2013, U+2212, between letters or digits) are
-- hyphens and soft hyphens are left out, so that INV‑1001 is INV-1001 however it was typed. ingest.lexemes reads every text like this.
create or replace function search.with_hyphens(_text text)
returns text
language sql
immutable
parallel safe
as $$
  -- Patterns, because translate() takes three times as long.
  select case when octet_length(_text) = length(_text) or _text !~ '[\u00AD\u2010-\u2013\u2212\uFEFF]' then _text
    else regexp_replace(
      regexp_replace(_text, '[\u00AD\uFEFF]', '', 'g'), '(?<=[[:alnum:]])[\u2010-\u2013\u2212](?=[[:alnum:]])', '-', 'g') end;
$$;
