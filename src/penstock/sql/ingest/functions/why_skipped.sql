-- Why an action would leave out something in this state; null when it would not.
create or replace function ingest.why_skipped(_action text, _state text)
returns text
language sql
immutable
parallel safe
as $$
  select case
    when _action = 'documents.retry' and _state = 'indexed' then 'it is indexed; re-index it instead'
    when _action = 'documents.retry' and _state not in ('failed', 'skipped') then 'it is still being processed'
    when _action = 'tasks.run_now' and _state <> 'waiting' then 'it does not wait for a time'
    when _action = 'decisions.restore' and _state = 'restored' then 'it is already restored'
    when _action = 'decisions.restore' and _state = 'link' then 'it is a link to a file that is stored elsewhere'
  end;
$$;
