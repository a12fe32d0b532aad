-- Starts the task that revokes the tokens of a source at its provider, and returns it; null if it has none.
-- Locks: the source's revocation. Raises PS012.
create or replace function ingest.revoke_tokens(_source_id uuid)
returns bigint
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id uuid := internal.require_tenant();
  v_task_id bigint;
begin
  if not exists (
    select from vault.secret x
    where x.tenant_id = v_tenant_id and x.source_id = _source_id and x.purpose in ('access_token', 'refresh_token'))
  then
    return null;
  end if;
  v_task_id := queues.enqueue(
    _task_type => 'revoke-tokens',
    _payload => jsonb_build_object('source_id', _source_id),
    _tenant_id => v_tenant_id,
    _unique_key => _source_id::text,
    _on_duplicate => 'coalesce');
  insert into ingest.revocation as r (source_id, tenant_id, task_id, requested_at)
  values (_source_id, v_tenant_id, v_task_id, internal.clock())
  on conflict (source_id) do update set
    task_id = excluded.task_id, requested_at = excluded.requested_at, ended_at = null, outcome = null, error_code = null;
  return v_task_id;
end;
$$;
