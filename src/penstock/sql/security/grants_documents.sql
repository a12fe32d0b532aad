-- Who may call what of the documents. All of it runs for the transaction's tenant; keeping.* alone sees every tenant.
-- The index and search have theirs in index.sql.
--   penstock_api          takes in, looks, searches, changes what a tenant owns
--   worker_service_user   runs documents and tends them
--   service_role          operators: all of the API's, and tenants
grant usage on schema accounts, files, ingest, vault, keeping
  to penstock_api, worker_service_user, service_role, penstock_reader;
grant usage on schema keeping to penstock_owner;

-- The owners' functions call each other, the queue's and the clock's.
grant usage on schema queues to penstock_owner, penstock_keeper;
grant execute on function
  queues.enqueue, queues.task_state, queues.cancel_task, queues.explain, queues.key_holder, queues.last_dead,
  queues.end_dead
  to penstock_owner, penstock_keeper;
grant execute on all functions in schema accounts, files, ingest, vault to penstock_keeper;

do $$
declare
  v_reads text[] := array[
    'accounts.show_tenant', 'accounts.list_keys', 'accounts.list_projects', 'accounts.show_project',
    'accounts.usage_of_month', 'accounts.budget_left', 'accounts.show_holdings', 'ingest.list_sources', 'ingest.show_document', 'ingest.list_documents',
    'ingest.list_events', 'ingest.list_ingestions', 'ingest.show_ingestion', 'ingest.content_of',
    'ingest.explain_document', 'ingest.find_documents', 'ingest.list_external',
    'ingest.list_chunks', 'ingest.estimate', 'ingest.webhook_source', 'ingest.count_to_retry'];
  v_writes text[] := array[
    'accounts.set_tenant', 'accounts.create_key', 'accounts.revoke_key', 'accounts.create_project',
    'accounts.set_project', 'accounts.delete_project', 'ingest.pause_source', 'ingest.remove_source',
    'accounts.note_usage', 'accounts.begin_reply', 'accounts.keep_reply', 'ingest.take_in', 'ingest.put_content',
    'ingest.retry_document', 'ingest.retry_documents', 'ingest.reindex_document', 'ingest.delete_document',
    'ingest.start_reindex',
    'ingest.put_webhook_source', 'ingest.note_webhook', 'vault.put_secret', 'vault.get_secret', 'vault.drop_secret',
    'files.make_intents', 'keeping.find_key', 'keeping.find_tenant'];
  v_works text[] := array[
    'ingest.begin_run', 'ingest.start_embedding', 'ingest.finish_run', 'ingest.fail_run', 'ingest.skip_run',
    'ingest.note_wait', 'ingest.delivery_of', 'ingest.delete_batch', 'ingest.note_outage', 'ingest.end_outage',
    'ingest.due_probes', 'keeping.return_from_fallback',
    'ingest.reindex_batch', 'ingest.stage_batch', 'ingest.flip_embedder', 'accounts.note_usage',
    'keeping.settle_documents', 'keeping.abandon_intents', 'keeping.forget_intents', 'keeping.forget_old',
    'vault.get_secret'];
  v_operates text[] := array[
    'keeping.create_tenant', 'keeping.list_tenants', 'keeping.settle_documents', 'keeping.unknown_blobs',
    'keeping.known_blobs', 'keeping.document_health'];
  v_role text;
  v_names text[];
  v_function regprocedure;
begin
  for v_role, v_names in
    values
      ('penstock_api', v_reads || v_writes),
      ('worker_service_user', v_reads || v_works || array['ingest.take_in', 'files.make_intents', 'keeping.find_tenant']),
      ('service_role', v_reads || v_writes || v_operates)
  loop
    for v_function in
      select p.oid::regprocedure
      from pg_proc p
      join pg_namespace n on n.oid = p.pronamespace
      where n.nspname in ('accounts', 'files', 'ingest', 'vault', 'keeping')
        and n.nspname || '.' || p.proname = any (v_names)
    loop
      execute format('grant execute on function %s to %I', v_function, v_role);
    end loop;
  end loop;
end;
$$;
