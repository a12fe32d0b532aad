-- Checks that the tenant has or had this source; what was decided about a removed one can still be listed. Null passes: all sources.
-- Takes no locks. Raises PS012, PS013.
create or replace function ingest.require_source(_source_id uuid)
returns void
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if _source_id is not null and not exists (
    select from ingest.source s where s.tenant_id = internal.require_tenant() and s.source_id = _source_id)
  then
    raise exception using errcode = 'PS013', detail = 'source_id',
      message = format('there is no source %s', _source_id),
      hint = 'List the sources of this tenant: penstock source list';
  end if;
end;
$$;
