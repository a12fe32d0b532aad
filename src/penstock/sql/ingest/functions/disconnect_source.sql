-- Disconnects a source: from now on it is not synced and accepts nothing. Its running sync is stopped. A task revokes its tokens
-- at the provider; they stay in the vault until then, orphaned. Before that it drops the source's subscription. A password is
-- deleted. _documents 'keep': what it brought in stays, and connecting the same account again continues it.
-- 'delete': no search finds its documents any more; up to _limit of them are deleted at
-- once, and a task deletes the rest, with what was learnt about clients. Files that another source or a person brought, too, stay
-- with them. Returns what was done.
-- Locks: the source's row, its open sync, its documents. Raises PS005, PS012, PS013, PS017.
create or replace function ingest.disconnect_source(_source_id uuid, _documents text, _limit integer default 200)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_source ingest.source := ingest.lock_source(_source_id);
  v_deletes boolean := _documents = 'delete';
  v_count bigint;
  v_revoked_by bigint;
  v_deleted_by bigint;
begin
  if _documents is null or _documents not in ('keep', 'delete') then
    raise exception using errcode = 'PS005', detail = 'documents',
      message = 'say what happens to the documents of the source', hint = 'Use documents=keep or documents=delete.';
  end if;
  if v_deletes and exists (select from internal.source_kind k where k.kind = v_source.kind and k.identity <> 'item') then
    raise exception using errcode = 'PS005', detail = 'documents',
      message = format('the documents of a %s may have come from elsewhere, too', v_source.kind),
      hint = 'Use documents=keep, and delete the documents you do not want.';
  end if;
  perform ingest.stop_syncs(_source_id);
  update ingest.subscription u set ended_at = internal.clock(), end_reason = 'disconnected'
  where u.source_id = _source_id and u.ended_at is null;
  v_revoked_by := ingest.revoke_tokens(_source_id);
  update ingest.source s set
    removed_at = internal.clock(), updated_at = internal.clock(), status = 'paused', status_message = null,
    secret_ids = '{}', access_token_vault_id = null, refresh_token_vault_id = null, token_expires_at = null,
    next_sync_at = null, account = case when v_deletes then null else s.account end,
    address = case when v_deletes then null else s.address end
  where s.source_id = _source_id;
  delete from ingest.mail_watch m where m.source_id = _source_id;
  -- A password cannot be revoked, so nobody needs it any more.
  delete from vault.secret x
  where x.tenant_id = v_source.tenant_id and x.source_id = _source_id and x.purpose = 'password';
  update vault.secret x set orphaned_at = internal.clock()
  where x.tenant_id = v_source.tenant_id and x.orphaned_at is null
    and (x.source_id = _source_id or x.secret_id = any (v_source.secret_ids));
  if v_deletes then
    perform ingest.hand_over_documents(_source_id);
  end if;
  select count(*) into v_count from ingest.document d
  where d.tenant_id = v_source.tenant_id and d.source_id = _source_id and d.deleted_at is null;
  if v_deletes then
    -- Documents that are left for the task must not be found until then either.
    update ingest.document d set live_generation = 0, staged_generation = null, staged_pipeline = null
    where d.tenant_id = v_source.tenant_id and d.source_id = _source_id and d.deleted_at is null
      and (d.live_generation > 0 or d.staged_pipeline is not null);
    delete from ingest.client_intelligence c where c.tenant_id = v_source.tenant_id and c.source_id = _source_id;
    if ingest.delete_source_batch(_source_id, _limit) > 0 then
      v_deleted_by := queues.enqueue(
        _task_type => 'delete-source',
        _payload => jsonb_build_object('source_id', _source_id),
        _tenant_id => v_source.tenant_id,
        _unique_key => _source_id::text,
        _on_duplicate => 'coalesce');
    end if;
  end if;
  return jsonb_build_object(
    'source_id', _source_id, 'kind', v_source.kind, 'name', v_source.name, 'documents', v_count, 'deleted', v_deletes,
    'revoking', v_revoked_by is not null, 'deleting', v_deleted_by is not null);
end;
$$;
