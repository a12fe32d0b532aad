-- Publishes the result of a run: switches the live generation, records what was found, closes all open ingestions. Its chunks
-- were staged before, so this is short; the caller closes the lease in the same transaction. Returns indexed, gone
-- (deleted meanwhile) or stale (its content or pipeline changed during the run: another run follows).
-- Locks: the project's row shared (a switch to another embedder waits), the document's row. Raises PS006, PS012.
create or replace function ingest.finish_run(
  _document_id uuid,
  _generation integer,
  _mode text,
  _content_sha256 bytea,
  _pipeline text,
  _facts jsonb,
  _code_version text,
  _sweep_after interval default '10 minutes'
)
returns text
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_project accounts.project;
  v_document ingest.document;
  v_wanted text;
begin
  select p.* into v_project from accounts.project p
  where p.project_id = (select d.project_id from ingest.document d where d.document_id = _document_id) for share;
  v_document := ingest.hold_run(_document_id, _generation);
  if v_document.document_id is null then
    perform ingest.put_sweep(_document_id, _generation, interval '0');
    return 'gone';
  end if;
  v_wanted := ingest.pipeline_of(
    v_project, coalesce(_facts ->> 'fallback', v_project.embedder), v_document.pipeline_config, _code_version);

  if v_document.content_sha256 <> _content_sha256 or v_wanted is distinct from _pipeline then
    perform ingest.put_sweep(_document_id, _generation, interval '0');
    if v_document.status in ('processing', 'embedding') then
      perform ingest.move_document(_document_id, 'pending', 'overtaken', null, null,
        jsonb_build_object('content_changed', v_document.content_sha256 <> _content_sha256));
      perform ingest.enqueue_ingest(_document_id);
    end if;
    return 'stale';
  end if;

  perform ingest.move_document(_document_id, 'indexed', 'indexed', null, null, _facts -> 'counts');
  if v_document.live_generation > 0 then
    perform ingest.put_sweep(_document_id, v_document.live_generation, _sweep_after);
  end if;
  perform ingest.put_live(_document_id, _generation, _content_sha256, _pipeline, _facts);
  if v_document.indexed_sha256 <> _content_sha256 then
    perform ingest.drop_old_attachments(_document_id);
  end if;
  perform ingest.close_ingestions(_document_id, 'indexed');
  perform ingest.end_dead_letters(_document_id);
  return 'indexed';
end;
$$;
