-- The words of a query that name one thing, such as an invoice's number or a part's code: at least four characters, with a digit,
-- and with a letter or a sign between them or five digits. In lower case, at most eight. A year ("2024", "1990s", "2023/24") and an
-- ordinal number ("12th") are not among them: most documents that contain one are about something else. Dashes are hyphens.
create or replace function search.identifiers(_query text)
returns text[]
language sql
immutable
parallel safe
as $$
  select coalesce(array_agg(distinct i.word), '{}')
  from (
    select w.word
    from (
      select lower(btrim(s.word, '.,;:!?()[]{}<>"''`´“”„‚‘’«»…*')) as word
      from regexp_split_to_table(search.with_hyphens(left(_query, 2000)), '\s+') as s (word)
    ) w
    where length(w.word) between 4 and 64 and w.word ~ '[0-9]' and (w.word ~ '[^0-9]' or length(w.word) >= 5)
      and w.word !~ '^(1[0-9]|20)[0-9]{2}(s|[''’]s|[-/][0-9]{2}|[-/](1[0-9]|20)[0-9]{2})$'
      and w.word !~ '^[0-9]+(st|nd|rd|th)$'
    limit 8
  ) i;
$$;
