-- Where a sync starts to read a stream, or continues. Each sync begins one pass over it, a full one from the very beginning; a
-- pass that an earlier sync left in the middle is continued. `done`: this sync has read it to its end already.
-- Locks: the job's row, the stream's. Raises PS006, PS012.
create or replace function ingest.open_stream(_job_id uuid, _run integer, _stream text)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_job ingest.ingestion_job := ingest.hold_sync(_job_id, _run);
  v_stream ingest.source_stream;
  v_full boolean := v_job.kind = 'full_sync';
begin
  insert into ingest.source_stream (source_id, stream, tenant_id, updated_at)
  values (v_job.source_id, _stream, v_job.tenant_id, internal.clock())
  on conflict do nothing;
  select * into v_stream from ingest.source_stream s where s.source_id = v_job.source_id and s.stream = _stream for update;
  if v_stream.completed_job_id = _job_id then
    return jsonb_build_object('done', true);
  end if;
  if v_stream.job_id is distinct from _job_id then
    update ingest.source_stream s set
      job_id = _job_id,
      is_full = s.is_full or v_full,
      pass = s.pass + (s.job_id is not null and (v_full or not s.is_resumed))::integer,
      cursor = case when not v_full then s.cursor end,
      is_resumed = s.is_resumed and not v_full,
      expected = null,
      left_out = case when not v_full then s.left_out else 0 end,
      updated_at = internal.clock()
    where s.source_id = v_job.source_id and s.stream = _stream
    returning * into v_stream;
  end if;
  return jsonb_build_object(
    'done', false, 'cursor', v_stream.cursor, 'is_full', v_stream.is_full, 'is_resumed', v_stream.is_resumed,
    'is_first', v_stream.completed_at is null);
end;
$$;
