-- Finds documents in progress, of every tenant, for which nothing will run any more: their task died, was cancelled or put in
-- quarantine. They end as failed with what is known; a document whose task left no trace is enqueued again. Returns each with
-- the reason of its failure, null if it was enqueued again. Locks: documents' rows, skipping those that are locked.
create or replace function all_tenants.settle_stranded(_quiet interval default '1 minute', _limit integer default 500)
returns table (document_id uuid, reason_code text)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_document ingest.document;
  v_state text;
  v_dead record;
  v_tenant text := current_setting('penstock.tenant_id', true);
begin
  for v_document in
    select * from ingest.document d
    where d.status in ('pending', 'processing', 'embedding') and d.updated_at < internal.clock() - _quiet
    order by d.updated_at
    limit _limit
    for update skip locked
  loop
    perform set_config('penstock.tenant_id', v_document.tenant_id::text, true);
    v_state := queues.task_state(v_document.task_id);
    if v_state in ('ready', 'waiting', 'parked', 'running')
      or queues.key_holder('ingest-document', v_document.document_id::text, v_document.tenant_id) is not null
    then
      continue;
    end if;
    -- A dead letter older than the document's last change is from an earlier run, after which it was retried.
    select d.reason, d.error_code, d.error_message into v_dead
    from queues.last_dead('ingest-document', 'document_id', v_document.document_id::text, v_document.tenant_id) d
    where d.task_id = v_document.task_id or d.died_at >= v_document.updated_at;
    if v_state = 'dead' or v_dead.reason is not null then
      reason_code := coalesce(nullif(v_dead.error_code, ''), v_dead.reason, 'dead');
      perform ingest.end_failed(v_document.document_id, reason_code,
        coalesce(nullif(v_dead.error_message, ''), 'its task is a dead letter: ' || v_dead.reason));
    elsif v_state = 'cancelled' then
      reason_code := 'cancelled';
      perform ingest.end_failed(v_document.document_id, reason_code, 'its task was cancelled');
    else
      reason_code := null;
      perform ingest.note_event(v_document.document_id, 'enqueued_again');
      perform ingest.enqueue_ingest(v_document.document_id);
    end if;
    document_id := v_document.document_id;
    return next;
  end loop;
  perform set_config('penstock.tenant_id', coalesce(v_tenant, ''), true);
end;
$$;
