-- Has a task look at each of these items of a sync: they differ from what is known or, with _unlisted, are no longer listed. Only
-- the look decides what is there. They count as seen by the pass; one whose look fails is found again by the next pass. An item
-- that is waiting to be looked at is not looked at twice. Returns how many there are.
-- Locks: the job's row. Raises PS006, PS012, PS017.
create or replace function ingest.request_looks(
  _job_id uuid, _run integer, _stream text, _external_ids text[], _unlisted boolean default false
)
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_job ingest.ingestion_job := ingest.hold_sync(_job_id, _run);
  v_count integer := cardinality(_external_ids);
begin
  if v_count = 0 then
    return 0;
  end if;
  update ingest.source_document d set pass = s.pass
  from ingest.source_stream s
  where s.source_id = v_job.source_id and s.stream = _stream
    and d.source_id = v_job.source_id and d.external_id = any (_external_ids);
  perform queues.enqueue_many(
    _task_type => 'read-item',
    _payloads => array(
      select jsonb_build_object(
        'source_id', v_job.source_id, 'stream', _stream, 'item', substr(e.external_id, length(_stream) + 2))
      from unnest(_external_ids) with ordinality as e (external_id, n) order by e.n),
    _tenant_id => v_job.tenant_id,
    _unique_keys => array(
      select v_job.source_id || '/' || e.external_id from unnest(_external_ids) with ordinality as e (external_id, n) order by e.n),
    _on_duplicate => 'coalesce');
  update ingest.ingestion_job j set
    items_seen = j.items_seen + case when _unlisted then 0 else v_count end,
    items_written = j.items_written + case when _unlisted then 0 else v_count end,
    items_removed = j.items_removed + case when _unlisted then v_count else 0 end,
    updated_at = internal.clock()
  where j.job_id = _job_id;
  return v_count;
end;
$$;
