-- Creates the tenant's own webhook, or rotates its secret: signatures by the new and the previous secret are both valid until
-- the next rotation. Its project does not change. Returns the source and the secrets that are no longer valid.
-- Locks: the source's row. Raises PS012, PS013, PS017.
create or replace function ingest.put_webhook_source(_source_id uuid, _secret_id uuid, _project text default 'default')
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_source ingest.source;
  v_dropped uuid[];
begin
  perform ingest.open_tenant();
  if not exists (
    select from vault.secret s where s.tenant_id = internal.require_tenant() and s.secret_id = _secret_id)
  then
    raise exception using errcode = 'PS013', detail = 'secret_id',
      message = format('there is no secret %s', _secret_id), hint = 'Store it in the vault first.';
  end if;
  insert into ingest.source (
    source_id, tenant_id, project_id, kind, name, secret_ids, created_at, updated_at)
  values (
    _source_id, internal.require_tenant(), (accounts.find_project(_project)).project_id, 'webhook', 'webhook',
    array[_secret_id], internal.clock(), internal.clock())
  on conflict (tenant_id) where kind = 'webhook' and removed_at is null do nothing
  returning * into v_source;
  if not found then
    select * into v_source from ingest.source s
    where s.tenant_id = internal.require_tenant() and s.kind = 'webhook' and s.removed_at is null for update;
    v_dropped := v_source.secret_ids[2:];
    update ingest.source s set secret_ids = _secret_id || s.secret_ids[:1], updated_at = internal.clock()
    where s.source_id = v_source.source_id returning * into v_source;
  end if;
  return jsonb_build_object(
    'source_id', v_source.source_id, 'project_id', v_source.project_id, 'secret_ids', v_source.secret_ids,
    'dropped', coalesce(v_dropped, '{}'));
end;
$$;
