-- Notes what a sync waits for, and until when. _failed: one more item counts as failed, and the error is one of its details.
-- Locks: the job's row. Raises PS006, PS012.
create or replace function ingest.wait_sync(
  _job_id uuid, _run integer, _code text, _message text, _seconds double precision, _failed boolean default false
)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform ingest.hold_sync(_job_id, _run);
  update ingest.ingestion_job j set
    status = 'waiting', error_code = _code, error_message = left(_message, 2000),
    items_failed = j.items_failed + _failed::integer,
    error_details = case when not _failed then j.error_details else (
      select jsonb_agg(e.value order by e.place) from (
        select d.value, d.place from jsonb_array_elements(
          j.error_details || jsonb_build_array(jsonb_build_object('code', _code, 'message', left(_message, 500)))
        ) with ordinality as d (value, place)
        order by d.place desc limit 100) e) end,
    next_try_at = internal.clock() + make_interval(secs => _seconds), updated_at = internal.clock()
  where j.job_id = _job_id;
end;
$$;
