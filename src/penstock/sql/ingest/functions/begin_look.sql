-- What a look at one item of a source needs to know. `mode` is look, or stopped: the source is paused, removed or needs its user,
-- and the sync after that finds what changed meanwhile. `payload_sha256` is what is known of the item, null if nothing is, or if
-- its document is gone. Which event asked for the look does not matter: newer ones, or a listing, may have been merged into its
-- task while it waited. `_sequencer` is sent by workers of earlier releases. Takes no locks. Raises PS012.
create or replace function ingest.begin_look(_source_id uuid, _external_id text, _sequencer text default null)
returns jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_source ingest.source;
  v_project accounts.project;
  v_known ingest.source_document;
begin
  select * into v_source from ingest.source s
  where s.tenant_id = internal.require_tenant() and s.source_id = _source_id and s.removed_at is null;
  select * into v_project from accounts.project p where p.project_id = v_source.project_id;
  if v_source.source_id is null or v_source.status in ('paused', 'error') or v_project.deleted_at is not null then
    return jsonb_build_object('mode', 'stopped');
  end if;
  select * into v_known from ingest.source_document d
  where d.tenant_id = v_source.tenant_id and d.source_id = _source_id and d.external_id = _external_id;
  return jsonb_build_object(
    'mode', 'look', 'kind', v_source.kind, 'account', v_source.account, 'config', v_source.config,
    'password_id', v_source.secret_ids[1], 'project_id', v_project.project_id,
    'payload_sha256', case when v_known.document_id is null or exists (
      select from ingest.document d where d.document_id = v_known.document_id and d.deleted_at is null)
      then encode(v_known.payload_sha256, 'hex') end);
end;
$$;
