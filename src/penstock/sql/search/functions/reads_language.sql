-- Whether one of these models can tell what a text in this language is about; the language as a code ('de', 'en-GB') or as the name of a
-- text-search configuration. The local models were trained on English: in other languages they find what looks alike, and words decide.
-- A language that is not known counts as English.
create or replace function search.reads_language(_models text[], _language text)
returns boolean
language sql
immutable
parallel safe
as $$
  select coalesce(lower(split_part(_language, '-', 1)) in ('en', 'english', 'simple'), true)
    or exists (select from unnest(_models) as m (model) where m.model not like 'wordllama%' and m.model not like 'minilm%');
$$;
