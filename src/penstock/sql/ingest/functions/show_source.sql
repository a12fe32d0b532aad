-- One source with its health, its streams, how many items and documents it has, and its last syncs (newest first).
-- Raises PS012, PS013.
create or replace function ingest.show_source(_source_id uuid, _jobs integer default 10)
returns jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_source ingest.source;
begin
  select * into v_source from ingest.source s
  where s.tenant_id = internal.require_tenant() and s.source_id = _source_id and s.removed_at is null;
  if not found then
    raise exception using errcode = 'PS013', detail = 'source_id',
      message = format('there is no source %s', _source_id),
      hint = 'List the sources of this tenant: penstock source list';
  end if;
  return ingest.source_row(v_source) || jsonb_build_object(
    'config', v_source.config,
    'documents', (
      select count(*) from ingest.document d where d.source_id = _source_id and d.deleted_at is null),
    'streams', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'stream', s.stream, 'completed_at', s.completed_at, 'left_out', s.left_out, 'expected', s.expected,
        'items', (
          select count(*) from ingest.source_document d where d.source_id = _source_id and d.stream = s.stream))
        order by s.stream), '[]')
      from ingest.source_stream s where s.source_id = _source_id),
    'jobs', (
      select coalesce(jsonb_agg(ingest.job_row(j) order by j.job_id desc), '[]')
      from (
        select * from ingest.ingestion_job n where n.source_id = _source_id order by n.job_id desc limit _jobs) j));
end;
$$;
