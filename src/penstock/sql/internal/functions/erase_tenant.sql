-- The only function that removes history: deletes what the queue keeps of a stopped tenant, its documents' timeline, its
-- index, caches, keys and secrets, and the roots of its processes except those that delete it. Rows that others refer to
-- stay, overwritten by accounts.anonymize_account(). Returns how many rows of each kind were deleted.
-- Locks: the count of the tenant's words and the care of vector indexes, waiting for one in progress, which would write after
-- the deletion; then the rows it deletes. Raises PS011 while the tenant is not stopped or has an open lease, PS012.
create or replace function internal.erase_tenant(_tenant_id uuid)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_removed jsonb := '{}';
  v_table text;
  v_count bigint;
begin
  if _tenant_id is distinct from internal.require_tenant() then
    raise exception using errcode = 'PS011', detail = 'tenant_id',
      message = format('this transaction does not belong to tenant %s', _tenant_id), hint = 'Erase a tenant in a transaction of its own.';
  end if;
  perform pg_advisory_xact_lock(hashtextextended('count ' || _tenant_id::text, 0));
  perform pg_advisory_xact_lock(hashtextextended('tend vectors', 0));
  v_removed := queues.erase_history(_tenant_id);
  delete from internal.open_root o
  where o.tenant_id = _tenant_id and o.process not in ('accounts.account_deletion', 'accounts.account_anonymization');
  perform ingest.drop_vector_index(v.tenant_id, v.model) from ingest.vector_index v where v.tenant_id = _tenant_id;
  foreach v_table in array array[
    'ingest.document_event', 'ingest.chunk', 'ingest.chunk_vector', 'ingest.posting', 'ingest.lexeme_count',
    'ingest.text_statistics', 'ingest.text_move', 'ingest.text_config_used', 'ingest.embedding_cache', 'ingest.sweep',
    'ingest.vector_index', 'ingest.client_text', 'ingest.client_vector', 'ingest.webhook_seen', 'ingest.source_document',
    'ingest.client_fact', 'ingest.client_change', 'ingest.client_key', 'ingest.client_member', 'ingest.client_group',
    'ingest.client_join', 'ingest.client_apart', 'ingest.source_stream', 'ingest.pending_sync', 'ingest.mail_watch',
    'ingest.connect_attempt', 'ingest.revocation', 'ingest.subscription', 'ingest.reconnect_incident', 'ingest.ingestion_job',
    'ingest.decision', 'ingest.stage_sample', 'ingest.operation_item', 'ingest.operation', 'ingest.gate_evaluation',
    'ingest.gate_question', 'ingest.gate', 'ingest.bulk_document', 'ingest.bulk_shard',
    'ingest.bulk_run', 'accounts.saved_view', 'accounts.kept_reply', 'accounts.session', 'accounts.login_link', 'accounts.audit_entry',
    'accounts.api_key', 'accounts.usage', 'vault.secret', 'vault.parameter',
    'comms.email_attachment']
  loop
    -- The tables of vectors are there only where pgvector is.
    if to_regclass(v_table) is not null then
      execute format('delete from %s where tenant_id = $1', v_table::regclass) using _tenant_id;
      get diagnostics v_count = row_count;
      if v_count > 0 then
        v_removed := v_removed || jsonb_build_object(split_part(v_table, '.', 2), v_count);
      end if;
    end if;
  end loop;
  return v_removed;
end;
$$;
