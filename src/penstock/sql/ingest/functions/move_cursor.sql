-- Moves a stream's cursor to a checkpoint, in the transaction that wrote the items before it. With _done the pass is complete.
-- Locks: the job's row, the stream's. Raises PS006, PS012.
create or replace function ingest.move_cursor(
  _job_id uuid,
  _run integer,
  _stream text,
  _cursor jsonb,
  _done boolean,
  _expected bigint default null,
  _left_out bigint default 0
)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_job ingest.ingestion_job := ingest.hold_sync(_job_id, _run);
begin
  update ingest.source_stream s set
    cursor = _cursor, is_resumed = not _done, is_full = s.is_full and not _done,
    completed_job_id = case when _done then _job_id else s.completed_job_id end,
    completed_at = case when _done then internal.clock() else s.completed_at end,
    expected = coalesce(_expected, s.expected), left_out = _left_out,
    updated_at = internal.clock()
  where s.source_id = v_job.source_id and s.stream = _stream;
  update ingest.ingestion_job j set
    lost_runs = 0, items_expected = t.expected, items_left_out = t.left_out, updated_at = internal.clock()
  from (
    select sum(s.expected) as expected, sum(s.left_out) as left_out from ingest.source_stream s
    where s.source_id = v_job.source_id and s.job_id = _job_id
  ) t
  where j.job_id = _job_id;
end;
$$;
