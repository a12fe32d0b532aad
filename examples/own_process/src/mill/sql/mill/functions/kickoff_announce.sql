-- Starts the process mill.announce for one subject, once: a second call returns the existing task. If an argument
-- is invalid, validation_failure_message says why and nothing is written. Raises PS012, PS017.
create or replace function mill.kickoff_announce(
  _subject text,
  _scheduled_at timestamptz default null,
  out validation_failure_message text,
  out announce_task_id bigint
)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id uuid := internal.require_tenant();
begin
  if coalesce(btrim(_subject), '') = '' then
    validation_failure_message := 'subject is missing: pass any text that names it, such as an id';
    return;
  end if;
  if length(_subject) > 500 then
    validation_failure_message := format('subject has %s characters; the limit is 500', length(_subject));
    return;
  end if;
  insert into mill.announce_task as t (tenant_id, subject, created_at)
  values (v_tenant_id, _subject, internal.clock())
  on conflict (tenant_id, subject) do nothing
  returning t.announce_task_id into announce_task_id;
  if announce_task_id is not null then
    perform internal.start_process('mill.announce', announce_task_id, _scheduled_at);
  else
    select t.announce_task_id into announce_task_id
    from mill.announce_task t where t.tenant_id = v_tenant_id and t.subject = _subject;
  end if;
end;
$$;
