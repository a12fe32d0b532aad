-- Admits one writer of a source's facts at a time, until its transaction ends. Without it, a deal and its company written at
-- the same moment would not see each other, and the deal would be missing from the company's rollup.
-- Locks: the source's facts (advisory). Raises PS012, PS013.
create or replace function ingest.lock_facts(_source_id uuid)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if not exists (
    select from ingest.source s where s.source_id = _source_id and s.tenant_id = internal.require_tenant())
  then
    raise exception using errcode = 'PS013', detail = 'source_id',
      message = format('there is no source %s', _source_id), hint = 'List the sources with penstock source list.';
  end if;
  perform pg_advisory_xact_lock(hashtextextended('facts ' || _source_id::text, 0));
end;
$$;
