-- Reverses a decision, for a person. Of stage 2: the document is processed again and kept. Of stage 1: a sync fetches the mail again
-- and takes the item in. _source_id: only if it is about this source. Reversing it again changes nothing, except that an item that could not be read is tried once more.
-- Locks: the decision's row; the document's, or the source's. Raises PS011 when there is nothing to restore or the source is not
-- connected, PS012, PS013, PS017.
create or replace function ingest.restore_decision(
  _decision_id uuid, _decided_by text default null, _source_id uuid default null
)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_decision ingest.decision;
  v_document ingest.document;
begin
  perform ingest.open_tenant();
  select * into v_decision from ingest.decision d
  where d.tenant_id = internal.require_tenant() and d.decision_id = _decision_id
    and (_source_id is null or d.source_id = _source_id)
  for update;
  if not found then
    raise exception using errcode = 'PS013', detail = 'decision_id',
      message = format('there is no decision %s', _decision_id), hint = 'List what was skipped: penstock source skipped';
  end if;
  if v_decision.verdict <> 'drop' then
    raise exception using errcode = 'PS011', detail = 'verdict',
      message = 'this document was kept, so there is nothing to restore', hint = 'List what was skipped: penstock source skipped';
  end if;
  if v_decision.outcome = 'restored' then
    return ingest.decision_row(v_decision);
  end if;
  if v_decision.stage = 2 then
    select * into v_document from ingest.document d
    where d.tenant_id = v_decision.tenant_id and d.document_id = v_decision.document_id for update;
    if v_document.deleted_at is not null then
      raise exception using errcode = 'PS011', detail = 'document_id',
        message = format('the document %s was deleted', v_document.document_id),
        hint = 'Upload its content again; it becomes a new document.';
    end if;
    update ingest.decision d set
      reversed_at = internal.clock(), reversed_by = left(_decided_by, 200), outcome = 'restored'
    where d.decision_id = _decision_id returning * into v_decision;
    if v_document.status = 'skipped' then
      perform ingest.move_document(v_document.document_id, 'pending', 'restored');
      perform ingest.enqueue_ingest(v_document.document_id);
    end if;
    return ingest.decision_row(v_decision);
  end if;
  if v_decision.skip_reason = 'link' then
    raise exception using errcode = 'PS011', detail = 'skip_reason',
      message = 'this attachment is a link to a file that is stored elsewhere', hint = 'Download the file and upload it.';
  end if;
  perform ingest.request_sync(v_decision.source_id, false, 'restore');
  update ingest.decision d set
    reversed_at = coalesce(d.reversed_at, internal.clock()), reversed_by = coalesce(d.reversed_by, left(_decided_by, 200)),
    outcome = null, outcome_message = null
  where d.decision_id = _decision_id returning * into v_decision;
  return ingest.decision_row(v_decision);
end;
$$;
