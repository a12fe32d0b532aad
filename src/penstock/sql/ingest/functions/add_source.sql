-- Adds a source that needs no grant, such as a folder, and asks for its first sync. Returns the source.
-- Locks: the tenant's row, for key share. Raises PS005, PS012, PS013, PS014, PS017.
create or replace function ingest.add_source(
  _source_id uuid,
  _kind text,
  _name text,
  _project text,
  _account text,
  _config jsonb default '{}',
  _sync_every interval default '1 day'
)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_source ingest.source;
begin
  perform ingest.open_tenant();
  if not exists (select from internal.source_kind k where k.kind = _kind and k.identity = 'item') then
    raise exception using errcode = 'PS005', detail = 'kind',
      message = format('%L is not a kind of source that is synced', _kind),
      hint = 'Use one of: ' || (
        select string_agg(k.kind, ', ' order by k.kind) from internal.source_kind k where k.identity = 'item');
  end if;
  insert into ingest.source as s (
    source_id, tenant_id, project_id, kind, name, account, config, sync_every, created_at, updated_at)
  values (
    _source_id, internal.require_tenant(), (accounts.find_project(_project)).project_id, _kind, _name, _account, _config,
    _sync_every, internal.clock(), internal.clock())
  on conflict (tenant_id, kind, account) where account is not null and removed_at is null do nothing
  returning * into v_source;
  if not found then
    raise exception using errcode = 'PS014', detail = 'account',
      message = format('there is already a %s source for %s', _kind, _account),
      hint = 'Sync it instead: penstock source list shows its id.';
  end if;
  perform ingest.request_sync(_source_id, true, 'added');
  return ingest.source_row(v_source);
end;
$$;
