-- The generation of a document `d` that a search with this filter finds, as text for its statement: the live one, or, with the key
-- `staged`, the one that will be live after the project's re-index. So a gate compares both before anything is published.
create or replace function search.shown_generation(_filter jsonb)
returns text
language sql
immutable
as $$
  select case when _filter ? 'staged'
    then '(case when d.staged_generation is not null and d.staged_sha256 = d.content_sha256
      then d.staged_generation else d.live_generation end)'
    else 'd.live_generation' end;
$$;
