-- Appends what an operator did.
create or replace function queues.note_audit(_action text, _subject text, _detail jsonb default '{}')
returns void
language sql
security definer
set search_path = pg_catalog, pg_temp
as $$
  insert into queues.audit (at, actor, action, subject, detail)
  values (internal.clock(), session_user, _action, _subject, _detail);
$$;
