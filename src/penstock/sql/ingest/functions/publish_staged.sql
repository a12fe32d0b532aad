-- Makes what a shard staged of a document the live generation; while its project switches to another embedder or has a gate, only
-- the staged one. A document that failed has nothing a gate could compare: it is published at once. The timeline says how the file
-- was read. Runs with the rights of ingest.close_shard(), which holds the document's row and has found that nothing newer is there.
create or replace function ingest.publish_staged(
  _document ingest.document, _staged ingest.bulk_document, _run ingest.bulk_run
)
returns void
language plpgsql
as $$
declare
  v_detail jsonb := (_staged.facts -> 'counts') || coalesce(_staged.facts -> 'reading', '{}')
    || jsonb_build_object('run_id', _run.run_id);
begin
  if _run.switches or _run.holds and _document.status <> 'failed' then
    if _document.staged_generation is not null then
      perform ingest.put_sweep(_document.document_id, _document.staged_generation, interval '10 minutes');
    end if;
    update ingest.document d set
      staged_generation = _staged.generation, staged_pipeline = _staged.pipeline, staged_sha256 = _staged.content_sha256,
      staged_chunks = (_staged.facts #>> '{counts,chunks}')::integer, staged_tokens = (_staged.facts #>> '{counts,tokens}')::bigint,
      staged_facts = _staged.facts
    where d.document_id = _document.document_id;
    perform ingest.note_event(_document.document_id, 'staged', null, null, null, null, v_detail);
    return;
  end if;
  if _document.status = 'failed' then
    perform ingest.move_document(_document.document_id, 'indexed', 'reindexed', null, null, v_detail);
    perform ingest.end_dead_letters(_document.document_id);
  else
    perform ingest.note_event(_document.document_id, 'reindexed', null, null, null, null, v_detail);
  end if;
  if _document.live_generation > 0 then
    perform ingest.put_sweep(_document.document_id, _document.live_generation, interval '10 minutes');
  end if;
  perform ingest.put_live(_document.document_id, _staged.generation, _staged.content_sha256, _staged.pipeline, _staged.facts);
  if _document.indexed_sha256 <> _staged.content_sha256 then
    perform ingest.drop_old_attachments(_document.document_id);
  end if;
end;
$$;
