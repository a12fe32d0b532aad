-- What a person types to let a source in at its provider again.
create or replace function ingest.reconnect_action(_source ingest.source)
returns text
language sql
immutable
set search_path = pg_catalog, pg_temp
as $$
  select case
    when _source.kind = 'imap' then 'Set the password again: penstock source set-password ' || _source.source_id
    else 'Connect it again: penstock source connect ' || _source.kind end;
$$;
