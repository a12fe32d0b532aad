-- Of an account that is deleted: stops the syncs of its connected sources, starts to revoke their tokens (which drops their
-- subscriptions first), and returns how many revocations are still going on. Repeating it starts none twice. Locks: the sources' rows. Raises PS012.
create or replace function ingest.revoke_all_tokens()
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id uuid := internal.require_tenant();
  v_source_id uuid;
begin
  for v_source_id in
    select s.source_id from ingest.source s
    where s.tenant_id = v_tenant_id and s.removed_at is null
      and exists (
        select from vault.secret x
        where x.tenant_id = v_tenant_id and x.source_id = s.source_id and x.purpose in ('access_token', 'refresh_token'))
    order by s.source_id
    for update
  loop
    perform ingest.stop_syncs(v_source_id);
    update ingest.subscription u set ended_at = internal.clock(), end_reason = 'disconnected'
    where u.source_id = v_source_id and u.ended_at is null;
    perform ingest.revoke_tokens(v_source_id);
    update ingest.source s set
      removed_at = internal.clock(), updated_at = internal.clock(), status = 'paused', status_message = null,
      access_token_vault_id = null, refresh_token_vault_id = null, token_expires_at = null, next_sync_at = null
    where s.source_id = v_source_id;
    update vault.secret x set orphaned_at = internal.clock()
    where x.tenant_id = v_tenant_id and x.source_id = v_source_id and x.orphaned_at is null;
  end loop;
  return (
    select count(*) from ingest.revocation r
    where r.tenant_id = v_tenant_id and r.ended_at is null
      and queues.task_state(r.task_id) in ('ready', 'waiting', 'parked', 'running'));
end;
$$;
