-- What time alone changes, by the name that pages know it by: workers that miss their heartbeats, inlets whose reader is gone,
-- and rates over the last minutes and the last hour. An API process compares it with what it saw before and tells its pages
-- when it differs, so that no page has to ask. Reads the samples of one hour.
create or replace function queues.time_marks()
returns table (name text, mark text)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select 'workers', count(*)::text
  from queues.worker w
  where w.worker_id > 0 and w.stopped_at is null and w.lost_at is null and w.beat_at < internal.clock() - w.lease_for
  union all
  select 'inlets', count(*)::text from queues.inlet_hold h where h.held_until > internal.clock()
  union all
  select 'queues', count(*) filter (where s.minute > internal.clock() - interval '6 minutes') || ' ' || count(*)
  from queues.sample s
  where s.minute > internal.clock() - interval '61 minutes' and s.tenant_id is null and s.done + s.failed > 0;
$$;
