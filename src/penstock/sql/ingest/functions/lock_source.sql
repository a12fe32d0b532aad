-- A source of the tenant with its row locked, unless it was removed. Raises PS012, PS013, PS017.
create or replace function ingest.lock_source(_source_id uuid)
returns ingest.source
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_source ingest.source;
begin
  perform ingest.open_tenant();
  select * into v_source from ingest.source s
  where s.tenant_id = internal.require_tenant() and s.source_id = _source_id and s.removed_at is null
  for update;
  if not found then
    raise exception using errcode = 'PS013', detail = 'source_id',
      message = format('there is no source %s', _source_id),
      hint = 'List the sources of this tenant: penstock source list';
  end if;
  return v_source;
end;
$$;
