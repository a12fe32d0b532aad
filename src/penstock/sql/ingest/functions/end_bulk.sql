-- Ends a run whose shards are all closed. Returns running while some are open; plan when documents or settings changed meanwhile and
-- another pass has to be planned; waiting when documents are in progress that a switch has to wait for, or for the project's gate,
-- which the run's reason says; or the state in which it ended: done, stopped, failed.
-- Safe to call by several drivers. Locks: the run's row, the project's row. Raises PS012, PS013.
create or replace function ingest.end_bulk(_run_id uuid, _code_version text)
returns text
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_run ingest.bulk_run := ingest.hold_bulk(_run_id);
  v_project accounts.project;
  v_settings text;
  v_dead bigint;
  v_flipped text;
begin
  if v_run.finished_at is not null then
    return v_run.state;
  end if;
  -- A driver that only waits leaves no other trace, and all_tenants.document_health() looks for one.
  update ingest.bulk_run r set updated_at = internal.clock()
  where r.run_id = _run_id and r.updated_at < internal.clock() - interval '1 minute';
  if v_run.state = 'planning' then
    return 'plan';
  end if;
  select * into v_project from accounts.project p where p.project_id = v_run.project_id;
  if v_project.deleted_at is not null then
    perform ingest.end_run(_run_id, 'stopped', 'the project was deleted');
    return 'stopped';
  end if;
  if exists (select from ingest.bulk_shard s where s.run_id = _run_id and s.closed_at is null) then
    if not exists (
      select from ingest.bulk_shard s
      where s.run_id = _run_id and s.closed_at is null
        and (s.lease_until > internal.clock() or s.task_id is null or queues.task_state(s.task_id) is distinct from 'dead'))
    then
      select s.task_id into v_dead from ingest.bulk_shard s where s.run_id = _run_id and s.closed_at is null order by s.shard limit 1;
      perform ingest.end_run(_run_id, 'failed', format('a shard failed; its task %s says why: penstock explain %1$s', v_dead));
      return 'failed';
    end if;
    return 'running';
  end if;
  v_settings := ingest.pipeline_of(v_project, v_run.embedder, null, null);
  if v_settings <> v_run.settings
    or (v_run.switches and v_project.next_embedder is not null or v_run.holds and not v_run.switches) and exists (
      select from ingest.document d
      where d.project_id = v_run.project_id and d.deleted_at is null and d.status = 'indexed'
        and not ingest.is_ready(d, v_project, v_run, _code_version))
  then
    update ingest.bulk_run r set
      state = 'planning', planned_to = null, pass = r.pass + 1, settings = v_settings, updated_at = internal.clock()
    where r.run_id = _run_id;
    return 'plan';
  end if;
  if v_run.switches or v_run.holds then
    v_flipped := ingest.flip_embedder(v_run.project_id, _code_version, _run_id);
    if v_flipped = 'gate' then
      update ingest.bulk_run r set reason = g.says, updated_at = internal.clock()
      from (select left(ingest.gate_says(_run_id), 2000) as says) g
      where r.run_id = _run_id and r.reason is distinct from g.says;
      return 'waiting';
    elsif v_flipped = 'waiting' then
      return 'waiting';
    elsif v_flipped = 'given_up' then
      perform ingest.end_run(_run_id, 'failed', case when v_run.switches
        then 'no document could be embedded by the new embedder' else 'no document could be indexed again' end);
      return 'failed';
    end if;
  end if;
  perform ingest.end_run(_run_id, 'done');
  return 'done';
end;
$$;
