-- Creates the source of an account, or finds the one it has: connecting the same account again keeps its id, cursor and
-- history, also if it was disconnected and its documents were kept. Its tokens are set afterwards, in the same transaction;
-- no refresh can come in between. `_address` is a mailbox's own. Returns the source, and whether it is new.
-- Locks: the refresh of its tokens, waiting for one in progress; then the source's row. Raises PS012, PS013, PS017.
create or replace function ingest.connect_source(
  _source_id uuid,
  _kind text,
  _account text,
  _name text,
  _project_id uuid,
  _address text default null,
  _sync_every interval default '1 day',
  out source_id uuid,
  out is_new boolean
)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id uuid := (ingest.open_tenant()).tenant_id;
begin
  -- A second tab may connect the same account at the same time.
  perform pg_advisory_xact_lock(hashtextextended(format('connect %s %s %s', v_tenant_id, _kind, _account), 0));
  select s.source_id into source_id from ingest.source s
  where s.tenant_id = v_tenant_id and s.kind = _kind and s.account = _account
    and (s.removed_at is null or s.project_id = _project_id)
  order by s.removed_at is not null, s.removed_at desc
  limit 1;
  is_new := source_id is null;
  if is_new then
    if not exists (
      select from accounts.project p
      where p.tenant_id = v_tenant_id and p.project_id = _project_id and p.deleted_at is null)
    then
      raise exception using errcode = 'PS013', detail = 'project',
        message = 'the project was deleted meanwhile', hint = 'Connect the source to another project.';
    end if;
    source_id := _source_id;
    insert into ingest.source (
      source_id, tenant_id, project_id, kind, name, account, address, sync_every, created_at, updated_at)
    values (
      _source_id, v_tenant_id, _project_id, _kind, _name, _account, lower(_address), _sync_every, internal.clock(),
      internal.clock());
    return;
  end if;
  perform pg_advisory_xact_lock(hashtext('refresh:' || connect_source.source_id));
  update ingest.source s set
    status = 'active', status_message = null, removed_at = null, address = coalesce(lower(_address), s.address),
    updated_at = internal.clock()
  where s.source_id = connect_source.source_id;
end;
$$;
