-- Enqueues the task that plans a run's shards, follows them and ends the run. Runs with its caller's rights.
create or replace function ingest.enqueue_bulk(_run ingest.bulk_run)
returns ingest.bulk_run
language plpgsql
as $$
begin
  update ingest.bulk_run r set task_id = queues.enqueue(
    _task_type => 'reindex-project',
    _payload => jsonb_build_object('project_id', r.project_id, 'embedder', r.embedder, 'run_id', r.run_id),
    _tenant_id => r.tenant_id,
    _unique_key => r.run_id::text,
    _on_duplicate => 'coalesce')
  where r.run_id = _run.run_id
  returning * into _run;
  return _run;
end;
$$;
